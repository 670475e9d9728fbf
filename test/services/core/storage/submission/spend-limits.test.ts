import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { automaticCaptures } from '../../../../../services/core/recovery/due-holds.ts';
import { openPurge } from '../../../../../services/core/storage/purge.ts';
import { openMerchant, openShop, sql } from '../../shop.ts';
import { refusal, useMortalStage, why } from '../../stage.ts';

const ORDER_OF_DAY = `select coalesce(sum(amount), 0)::text as sum from spent where merchant_id = $1`;

describe('the limits of a contract', () => {
  const { stage, crash } = useMortalStage();
  let number = 0;

  /** Creates a merchant with one limit, and its shops at both cores. */
  async function limited(operation: string, amounts: { perOperation?: bigint; perDay?: bigint }, currency = 'EUR') {
    const merchantId = `limited-${++number}`;
    const shop = await openMerchant(stage, merchantId, { limits: [{ operation, currency, ...amounts }] });
    return Object.assign(shop, { beside: openShop(stage, merchantId, 1) });
  }

  const spent = async (merchantId: string) => {
    const [row] = await sql<{ sum: string }>(stage, ORDER_OF_DAY, [merchantId]);
    return Number(row?.sum);
  };
  /** The amount of a merchant's operations of the kinds that can be limited, without those that are KO. */
  const moved = async (merchantId: string) => {
    const text = `select coalesce(sum(amount), 0)::text as sum from submission where merchant_id = $1
      and kind in ('OCT', 'REFUND', 'CAPTURE') and state <> 'KO'`;
    const [row] = await sql<{ sum: string }>(stage, text, [merchantId]);
    return Number(row?.sum);
  };
  const outcomes = async (calls: readonly Promise<unknown>[]) => {
    const settled = await Promise.allSettled(calls);
    const done = settled.filter(({ status }) => status === 'fulfilled').length;
    const refused = settled.filter(({ status }) => status === 'rejected');
    const reasons = await Promise.all(refused.map((one) => why(Promise.reject((one as PromiseRejectedResult).reason))));
    return { done, reasons };
  };

  it('are never exceeded by one: 64 payouts at once through two cores', async () => {
    const shop = await limited('OCT', { perDay: 1_000n });
    const calls = Array.from({ length: 64 }, (_, index) =>
      (index % 2 ? shop : shop.beside).oct({ amount: 100n, ...(index % 3 && { idempotencyKey: randomUUID() }) }),
    );
    const { done, reasons } = await outcomes(calls);
    assert.equal(done, 10);
    assert.deepEqual(new Set(reasons), new Set(['LIMIT_EXCEEDED']));
    assert.equal(reasons.length, 54);
    assert.equal(await spent(shop.merchantId), 1_000);
    assert.equal(await moved(shop.merchantId), 1_000);
  });

  it('refuse only what does not fit: amounts of all sizes at once fill the day, and nothing smaller is left out', async () => {
    const shop = await limited('OCT', { perDay: 1_000n });
    const sizes = Array.from({ length: 64 }, (_, index) => BigInt(((index * 37) % 97) + 1));
    const calls = sizes.map((amount, index) => (index % 2 ? shop : shop.beside).oct({ amount }));
    const settled = await Promise.allSettled(calls);
    const sum = await moved(shop.merchantId);
    assert.ok(sum <= 1_000);
    assert.equal(await spent(shop.merchantId), sum);
    const refused = settled.flatMap(({ status }, index) => (status === 'rejected' ? [Number(sizes[index])] : []));
    assert.ok(refused.length > 0);
    assert.ok(Math.min(...refused) > 1_000 - sum, `${sum} moved, and ${Math.min(...refused)} was refused`);
  });

  it('say what the limit is and when its day ends; without an end what never fits', async () => {
    const shop = await limited('OCT', { perOperation: 500n, perDay: 900n });
    const above = await refusal(shop.oct({ amount: 501n }));
    assert.deepEqual([above.reason, above.metadata], ['LIMIT_EXCEEDED', { limit: '500' }]);
    await shop.oct({ amount: 500n });
    const today = new Date(stage.clock.now());
    const midnight = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + 1));
    const full = await refusal(shop.oct({ amount: 401n }));
    assert.deepEqual(
      [full.reason, full.metadata],
      ['LIMIT_EXCEEDED', { limit: '900', resetsAt: midnight.toISOString() }],
    );
    assert.equal((await shop.oct({ amount: 400n })).oct?.state, OperationState.OK);
    const daily = await limited('OCT', { perDay: 900n });
    assert.deepEqual((await refusal(daily.oct({ amount: 901n }))).metadata, { limit: '900' });
  });

  it('begin anew at midnight in UTC', async () => {
    const shop = await limited('OCT', { perDay: 700n });
    await shop.oct();
    await why(shop.oct()).then((reason) => assert.equal(reason, 'LIMIT_EXCEEDED'));
    const untilMidnightMs = 86_400_000 - (stage.clock.now() % 86_400_000);
    stage.clock.advance(untilMidnightMs - 1);
    assert.equal(await why(shop.oct()), 'LIMIT_EXCEEDED');
    stage.clock.advance(1);
    await shop.oct();
    assert.equal(await why(shop.oct()), 'LIMIT_EXCEEDED');
  });

  it('count each currency and operation for itself, and nobody else', async () => {
    const shop = await limited('OCT', { perDay: 700n });
    await shop.oct();
    await shop.oct({ currency: 'USD', amount: 70_000n });
    await shop.refund(await shop.captured(5_000n));
    await (await limited('OCT', { perDay: 700n })).oct();
    assert.equal(await why(shop.oct({ amount: 1n })), 'LIMIT_EXCEEDED');
  });

  it('hold for captures and refunds, also for all that is left of a capture', async () => {
    const captures = await limited('CAPTURE', { perDay: 5_000n });
    const hold = await captures.hold();
    await captures.capture(hold, 4_000n);
    assert.equal(await why(captures.capture(hold, 1_001n)), 'LIMIT_EXCEEDED');
    assert.equal(await captures.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/0');
    await captures.capture(hold, 1_000n);
    const refunds = await limited('REFUND', { perDay: 5_000n });
    const capture = await refunds.captured(6_000n);
    assert.equal(await why(refunds.refund(capture)), 'LIMIT_EXCEEDED');
    await refunds.refund(capture, 5_000n);
    assert.equal(await why(refunds.refund(capture)), 'LIMIT_EXCEEDED');
  });

  it('are for operators, too, and for captures that a hold makes by itself', async () => {
    const shop = await limited('CAPTURE', { perDay: 5_000n });
    const captureAt = new Date(stage.clock.now() + 60_000);
    const { preauthorization } = await shop.place({
      captureAt: { seconds: BigInt(Math.floor(captureAt.getTime() / 1_000)), nanos: 0 },
    });
    assert(preauthorization);
    stage.clock.advance(61_000);
    const work = automaticCaptures(stage.recovery);
    const [due = assert.fail()] = await work.find({ limit: 10, but: [] });
    assert.equal(await work.handle(due), 'LATER');
    assert.equal(await shop.books(preauthorization), 'IN_PROGRESS 0/0/10000/0/0');
    const { holds } = stage.channel('operator');
    const other = await shop.hold();
    const asked = { requestId: other.requestId, amountToCapture: 5_001n };
    assert.equal(await why(holds.capturePreauthorization(asked)), 'LIMIT_EXCEEDED');
  });

  it('give the room of what is KO back, and keep that of what is not known', async () => {
    const shop = await limited('OCT', { perDay: 700n });
    assert.equal(await why(shop.oct({ tokenId: 'tok_sandbox_declined' })), 'CARD_DECLINED');
    assert.equal(await spent(shop.merchantId), 0);
    const { oct } = await shop.oct({ tokenId: 'tok_sandbox_timeout_lost' });
    assert.equal(oct?.state, OperationState.UNKNOWN);
    assert.equal(await why(shop.oct({ amount: 1n })), 'LIMIT_EXCEEDED');
    stage.clock.advance(120_000);
    await stage.inquire();
    await shop.oct();
    assert.equal(await why(shop.oct({ amount: 1n })), 'LIMIT_EXCEEDED');
    assert.equal(await moved(shop.merchantId), 700);
  });

  it('follow a correction', async () => {
    const shop = await limited('OCT', { perDay: 700n });
    const { oct } = await shop.oct();
    const operators = stage.client('operator', OperatorService);
    const correct = (outcome: OperationState) =>
      operators.correctOperation({ requestId: oct?.requestId ?? '', outcome, reason: 'they say so' });
    await correct(OperationState.KO);
    assert.equal(await spent(shop.merchantId), 0);
    await correct(OperationState.OK);
    assert.equal(await why(shop.oct({ amount: 1n })), 'LIMIT_EXCEEDED');
  });

  it('count a key once, also when it comes many times at once or for something else', async () => {
    const shop = await limited('OCT', { perDay: 1_400n });
    const idempotencyKey = randomUUID();
    const calls = Array.from({ length: 32 }, (_, index) =>
      (index % 2 ? shop : shop.beside).oct({ idempotencyKey }).catch((error) => why(Promise.reject(error))),
    );
    const answers = await Promise.all(calls);
    for (const answer of answers) {
      if (typeof answer === 'string') assert.equal(answer, 'IDEMPOTENCY_IN_FLIGHT');
    }
    assert.equal(await spent(shop.merchantId), 700);
    const again = await shop.oct({ idempotencyKey });
    assert.equal(again.replayed, true);
    const taken = randomUUID();
    await shop.hold({ idempotencyKey: taken });
    assert.equal(await why(shop.oct({ idempotencyKey: taken })), 'IDEMPOTENCY_KEY_REUSED');
    assert.equal(await spent(shop.merchantId), 700);
    await shop.oct({ idempotencyKey: randomUUID() });
    assert.equal((await shop.oct({ idempotencyKey })).replayed, true);
  });

  it('keep what a core had stored when it died, until the outcome is known', async () => {
    const shop = await limited('OCT', { perDay: 700n });
    for (const at of ['oct stored', 'oct answered'] as const) {
      crash.at = at;
      await shop.oct().catch(() => undefined);
      assert.equal(await why(shop.beside.oct({ amount: 1n })), 'LIMIT_EXCEEDED', at);
      stage.clock.advance(120_000);
      await stage.inquire();
    }
    assert.equal(await moved(shop.merchantId), 700);
    assert.equal(await spent(shop.merchantId), 700);
  });

  it('are forgotten after a week', async () => {
    const shop = await limited('OCT', { perDay: 700n });
    await shop.oct();
    const purge = openPurge(stage.database, { notifications: 90, operations: 90 });
    await purge(new Date(stage.clock.now() + 6 * 86_400_000));
    assert.equal(await spent(shop.merchantId), 700);
    await purge(new Date(stage.clock.now() + 9 * 86_400_000));
    assert.equal(await spent(shop.merchantId), 0);
  });

  it('do not count a merchant without them, nor forbid its payouts unless the contract does', async () => {
    const shop = await openMerchant(stage, 'free');
    await shop.oct();
    assert.equal(await spent('free'), 0);
    const shut = await openMerchant(stage, 'shut', { allowOct: false });
    assert.equal(await why(shut.oct()), 'OCT_NOT_ALLOWED');
    const rows = await sql(stage, `select from claim where merchant_id = 'shut'`);
    assert.equal(rows.length, 0);
  });
});
