/** A real core before the adapter, with a merchant. */
import type { ReportEventRequest } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { ProcessorEventService } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { forSuite } from '../../suite.ts';
import { openMerchant } from '../core/shop.ts';
import { openStage } from '../core/stage.ts';
import { type Fixture, PROCESSOR_CREDENTIAL } from './fixture.ts';

/** Opens both for a suite or each test of it; the core's clock is the fake Stripe's. */
export function useCore(fixture: Fixture, open: typeof forSuite) {
  const stage = open(async () => {
    const processor = `127.0.0.1:${fixture.adapter.grpcPort}`;
    const opened = await openStage({ processor, environment: { PROCESSOR_CREDENTIAL } });
    opened.clock.advance(Date.now() - opened.clock.now());
    return opened;
  });
  const acme = open(() => openMerchant(stage, 'acme', { webhookUrl: 'https://acme.example/hooks' }));
  return {
    stage,
    acme,
    /**
     * Delivers Stripe's events to the adapter, whose own core is a fake one, and what that was told of a kind to the
     * real core. Returns how many events those were.
     */
    async tell(kind: ReportEventRequest['event']['case']): Promise<number> {
      await fixture.deliverAll();
      const told = fixture.core.received.splice(0).filter(({ event }) => event.case === kind);
      for (const event of told) await stage.client('processor', ProcessorEventService).reportEvent(event);
      return told.length;
    },
  };
}
