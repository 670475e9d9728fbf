/** What somebody else charged at the processor is imported; the end that was reported of its hold waits for that. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { AuthorizationEnd } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage } from '../stage.ts';
import { decideAt } from './decide.ts';

describe('reconcile() on charges by somebody else', () => {
  const stage = forSuite(openStage);
  const acme = forSuite(() => openMerchant(stage, 'acme', { holdPeriod: { seconds: 3_600n } }));

  /** Somebody charges an authorization in the processor's dashboard, and voids the rest. */
  async function chargeThere({ requestId }: { requestId: string }, amount: number) {
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
    ledger.exec(`update entry set captured = ${amount}, voided = amount - ${amount}, endedAtMs = ${now}
      where requestId = '${requestId}'`);
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

  for (const first of ['charged', 'ended'] as const) {
    for (const [amount, books, results] of [
      [10_000, 'CAPTURED 10000/0/0/0/0', ['authorized', 'captured 10000']],
      [4_000, 'CAPTURED 4000/0/0/6000/0 RELEASED', ['authorized', 'captured 4000', 'released 6000']],
    ] as const) {
      it(`imports ${amount} that somebody else charged, ${first} first, and then lets the hold end`, async () => {
        const hold = await acme.hold();
        const there = await chargeThere(hold, amount);
        await there[first]();
        await there[first === 'charged' ? 'ended' : 'charged']();
        await stage.expire();
        assert.equal(await acme.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
        const { lines, left } = await decideAt(stage, { importing: ['all'] });
        assert.equal(left, 0, lines.join('\n'));
        await stage.expire();
        assert.equal(await acme.books(hold), books);
        assert.deepEqual(await acme.results(hold), results);
        const open = await sql(stage, 'select from contradiction where hold_request_id = $1 and resolved_at is null', [
          hold.requestId,
        ]);
        assert.equal(open.length, 0);
        assert.deepEqual(await stage.audit(), []);
      });
    }
  }
});
