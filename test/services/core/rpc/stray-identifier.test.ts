/** Operations under a requestId that was drawn by a clock which is far from core's. */
import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage, refusal } from '../stage.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

describe('a requestId that was drawn by a wrong clock', () => {
  const stage = forSuite(openStage);
  const acme = forSuite(() => openMerchant(stage, 'acme'));
  const drawn = (aheadMs: number) => ({ operationRequestId: uuidv7({ msecs: Date.now() + aheadMs }) });

  it('is refused for a new operation of any kind, and nothing is stored', async () => {
    const hold = await acme.hold();
    const capture = await acme.captured();
    for (const aheadMs of [11 * MINUTE_MS, 25 * 60 * MINUTE_MS, 500 * DAY_MS, -25 * 60 * MINUTE_MS, -500 * DAY_MS]) {
      const name = drawn(aheadMs);
      const calls = {
        hold: () => acme.place(name),
        capture: () => acme.capture(hold, 100n, name),
        release: () => acme.release(hold, name),
        increment: () => acme.increment(hold, 100n, name),
        extension: () => acme.extend(hold, name),
        renewal: () => acme.renew(hold, name),
        refund: () => acme.refund(capture, 100n, name),
        oct: () => acme.oct(name),
      };
      for (const [what, call] of Object.entries(calls)) {
        await assert.rejects(call(), { details: 'the request is not valid: operation_request_id' }, what);
      }
      const claims = 'select from claim where request_id = $1';
      assert.deepEqual(await sql(stage, claims, [name.operationRequestId]), []);
    }
    assert.equal(await acme.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('is taken when the clock is not far away, or the call waited for some hours', async () => {
    for (const aheadMs of [9 * MINUTE_MS, -23 * 60 * MINUTE_MS]) {
      const name = drawn(aheadMs);
      assert.equal((await acme.hold(name)).requestId, name.operationRequestId);
    }
  });

  it('is found again by a repetition, however late that comes', async () => {
    const hold = await acme.hold();
    const old = drawn(-25 * 60 * MINUTE_MS).operationRequestId;
    const name = drawn(0);
    const captured = await acme.capture(hold, 100n, name);
    for (const table of ['claim', 'submission', 'operation'])
      await sql(stage, `update ${table} set request_id = $1 where request_id = $2`, [old, name.operationRequestId]);
    const again = await acme.capture(hold, 100n, { operationRequestId: old });
    assert.deepEqual([again.capture?.requestId, again.capture?.amount], [old, captured.capture?.amount]);
    assert.equal((await refusal(acme.capture(hold, 200n, { operationRequestId: old }))).reason, 'INVALID_REQUEST');
    assert.equal(await acme.books(hold), 'PARTIALLY_CAPTURED 100/0/9900/0/0');
  });
});
