/** Somebody other than Holdfast charges an authorization at the processor. */
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { AuthorizationEnd } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Stage } from '../stage.ts';

/**
 * Somebody charges a hold of 10000 in the processor's dashboard, and voids the rest, unless it `stays`. Returns what the
 * processor reports of it.
 */
export function chargeThere(
  stage: Stage,
  { requestId }: { readonly requestId: string },
  amount: number,
  stays = false,
) {
  const captureRequestId = randomUUID();
  const ledger = new DatabaseSync(stage.ledger, { timeout: 5_000 });
  const now = stage.clock.now();
  const columns = ledger
    .prepare("select name from pragma_table_info('entry') where name not in ('seq', 'requestId', 'kind')")
    .all()
    .map(({ name }) => String(name));
  const own = {
    amount,
    authorizationRequestId: requestId,
    captured: 0,
    voided: 0,
    operationRequestId: captureRequestId,
  };
  const values = columns.map((name) => (name in own ? `'${own[name as keyof typeof own]}'` : name));
  ledger.exec(`insert into entry (requestId, kind, ${columns.join(', ')})
    select '${captureRequestId}', 'capture', ${values.join(', ')} from entry where requestId = '${requestId}'`);
  const ended = stays ? '' : `, voided = amount - ${amount}, endedAtMs = ${now}`;
  ledger.exec(`update entry set captured = captured + ${amount}${ended} where requestId = '${requestId}'`);
  ledger.close();
  const { events } = stage.channel('processor');
  const report = (event: Parameters<typeof events.reportEvent>[0]['event']) =>
    events.reportEvent({ eventId: randomUUID(), occurredAt: timestampFromMs(now), ...(event && { event }) });
  const foreign = { authorizationRequestId: requestId, captureRequestId, amount: BigInt(amount), reference: 'ch' };
  const end = { requestId, end: AuthorizationEnd.VOIDED, amount: BigInt(10_000 - amount), reference: 'end' };
  return {
    charged: () => report({ case: 'foreignCapture', value: foreign }),
    ended: () => report({ case: 'authorizationEnded', value: end }),
  };
}
