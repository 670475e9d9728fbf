/** A stage whose processor answers and reports what the test configures. */
import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import type { ReportEventRequestSchema } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { ResultSchema } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { openMerchant, sql } from './desk.ts';
import { approved, startFakeProcessor } from './fake-processor.ts';
import { openStage } from './stage.ts';

export type ScriptedStage = Awaited<ReturnType<typeof openScriptedStage>>;

/** Opens one with the desk of one merchant. */
export async function openScriptedStage() {
  const processor = await startFakeProcessor();
  const stage = await openStage({ processor: processor.address });
  const desk = await openMerchant(stage, 'acme');
  const { events } = stage.channel('processor');
  const report = (event: MessageInitShape<typeof ReportEventRequestSchema>['event'], eventId: string = randomUUID()) =>
    events.reportEvent({ eventId, occurredAt: timestampNow(), ...(event && { event }) });
  return {
    processor,
    stage,
    desk,
    report,
    /** Reports a result. */
    settled: (requestId: string, result: MessageInitShape<typeof ResultSchema>, eventId?: string) =>
      report({ case: 'operationSettled', value: { requestId, result } }, eventId),
    /** From now on everything is approved. */
    approveAll(): void {
      processor.says = {
        ...{ authorize: () => approved, capture: () => approved },
        ...{ void: () => approved, credit: () => approved },
      };
    },
    async inquireLater(byMs = 60_000): Promise<void> {
      stage.clock.advance(byMs);
      await stage.inquire();
    },
    stateOf: async (requestId: string) =>
      (await desk.operations.getOperation({ merchantId: 'acme', requestId })).operation?.state,
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
