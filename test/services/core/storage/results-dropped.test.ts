/** Holds whose results are so old that the log does not have them any more: their books and operations stay. */
import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { openPurge } from '../../../../services/core/storage/purge.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage, refusal, why } from '../stage.ts';

const DAY_MS = 86_400_000;

describe('holds whose results were dropped', () => {
  const stage = forSuite(openStage);
  const acme = forSuite(() => openMerchant(stage, 'acme', { webhookUrl: 'https://acme.example/hooks' }));
  const purge = async () => {
    const run = openPurge(stage.recovery.database, { notifications: 90, operations: 400 });
    await run(new Date(Date.now() + 460 * DAY_MS));
    assert.deepEqual(await sql(stage, 'select from operation'), []);
  };

  it('can be refunded, show what was done, and number their notifications further', async () => {
    const hold = await acme.hold();
    const { requestId: increment } = await acme.increment(hold, 2_000n);
    const { requestId: extension } = await acme.extend(hold);
    const { capture = assert.fail() } = await acme.capture(hold, 12_000n);
    const { refund = assert.fail() } = await acme.refund(capture, 5_000n);
    await purge();

    assert.equal((await acme.getRefund(refund.requestId)).refund?.amount, 5_000n);
    for (const requestId of [increment, extension, refund.requestId]) {
      const { operation } = await acme.operations.getOperation({ merchantId: 'acme', requestId });
      assert.equal(operation?.holdRequestId, hold.requestId);
    }
    const { refund: second } = await acme.refund(capture);
    assert.equal(second?.amount, 7_000n);
    assert.equal(await why(acme.refund(capture)), 'AMOUNT_EXCEEDS_CAPTURE');
    assert.equal(await acme.books(hold), 'CAPTURED 12000/0/0/0/0 refunded 12000');
    const text = "select convert_from(body, 'UTF8') as body from delivery where request_id = $1";
    const [notified] = await sql<{ body: string }>(stage, text, [second?.requestId]);
    assert.equal(JSON.parse(notified?.body ?? '').sequence, 6);
    assert.deepEqual(await stage.audit(), []);
  });

  it('refuse a repeated call of what was refused', async () => {
    const hold = await acme.hold({ tokenId: 'tok_sandbox_capture_declined' });
    const calls = [
      (name: object) => acme.place({ tokenId: 'tok_sandbox_processor_error', ...name }),
      (name: object) => acme.oct({ tokenId: 'tok_sandbox_processor_error', ...name }),
      (name: object) => acme.capture(hold, 1_000n, name),
    ].map((call) => {
      const name = { operationRequestId: randomUUIDv7() };
      return () => refusal(call(name));
    });
    const first = [];
    for (const call of calls) first.push(await call());
    await purge();
    for (const [place, call] of calls.entries()) {
      const again = await call();
      assert.equal(again.reason, 'PROCESSOR_ERROR');
      assert.deepEqual(again.metadata, first[place]?.metadata);
    }
  });
});
