/** A stage whose processor answers and reports what the test configures. */
import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import type { ReportEventRequestSchema } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { ResultSchema } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite, standIn } from '../../suite.ts';
import { approved, startFakeProcessor } from './fake-processor.ts';
import { openMerchant, sql } from './shop.ts';
import { openStage } from './stage.ts';

export type ScriptedStage = Awaited<ReturnType<typeof openScriptedStage>>;

/**
 * Opens one for the tests of a suite. Everything is approved, and nothing has been called, at the start of each test.
 */
export function useScriptedStage() {
  const scripted = forSuite(openScriptedStage);
  beforeEach(() => {
    scripted.approveAll();
    scripted.processor.heard.length = 0;
  });
  return { scripted, shop: standIn(() => scripted.shop), processor: standIn(() => scripted.processor) };
}

/** Opens one with the shop of one merchant. */
export async function openScriptedStage() {
  const processor = await startFakeProcessor();
  const stage = await openStage({ processor: processor.address });
  const shop = await openMerchant(stage, 'acme');
  const { events } = stage.channel('processor');
  const report = (event: MessageInitShape<typeof ReportEventRequestSchema>['event'], eventId: string = randomUUID()) =>
    events.reportEvent({ eventId, occurredAt: timestampNow(), ...(event && { event }) });
  return {
    processor,
    stage,
    shop,
    report,
    /** Reports a result. */
    settled: (requestId: string, result: MessageInitShape<typeof ResultSchema>, eventId?: string) =>
      report({ case: 'operationSettled', value: { requestId, result } }, eventId),
    /** From now on everything is approved. */
    approveAll(): void {
      processor.says = {
        authorize: () => approved,
        capture: () => approved,
        void: () => approved,
        refund: () => approved,
        credit: () => approved,
        incrementAuthorization: () => approved,
        decreaseAuthorization: () => approved,
        extendAuthorization: () => approved,
      };
    },
    async inquireLater(byMs = 60_000): Promise<void> {
      stage.clock.advance(byMs);
      await stage.inquire();
    },
    /** Returns the notifications of a hold's results, oldest first. */
    async notificationsOf({ requestId }: { requestId: string }) {
      const text = `select d.status_info as word, convert_from(d.body, 'UTF8')::json as body from operation o
        join delivery d on d.request_id = o.request_id::text where o.hold_request_id = $1 order by o.sequence`;
      return sql<{ word: string; body: Record<string, unknown> }>(stage, text, [requestId]);
    },
    stateOf: async (requestId: string) =>
      (await shop.operations.getOperation({ merchantId: 'acme', requestId })).operation?.state,
    /** Returns the number of results of an attempt. */
    async countOf(requestId: string): Promise<number | undefined> {
      const text = 'select count(*)::int as n from operation where request_id = $1';
      return (await sql<{ n: number }>(stage, text, [requestId]))[0]?.n;
    },
    async close(): Promise<void> {
      await stage.close();
      processor.close();
    },
  };
}
