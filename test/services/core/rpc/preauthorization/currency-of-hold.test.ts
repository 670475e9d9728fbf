import assert from 'node:assert/strict';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, type Shop, sql } from '../../shop.ts';
import { refusal, useMortalStage } from '../../stage.ts';

describe('currency of what is done with a hold', () => {
  const { stage } = useMortalStage();
  const shop = forSuite(() => openMerchant(stage, 'tokyo'));
  const hold = () => shop.hold({ currency: 'JPY' });

  /** What takes a currency: how it is called on a new hold. */
  const CALLS: Readonly<Record<string, (shop: Shop) => Promise<(fields: object) => Promise<object>>>> = {
    capture: async (tokyo) => {
      const placed = await hold();
      return (fields) => tokyo.capture(placed, 1_000n, fields);
    },
    increment: async (tokyo) => {
      const placed = await hold();
      return (fields) => tokyo.increment(placed, 1_000n, fields);
    },
    release: async (tokyo) => {
      const placed = await hold();
      return (fields) => tokyo.release(placed, fields);
    },
    refund: async (tokyo) => {
      const captured = await tokyo.captured(10_000n, { currency: 'JPY' });
      return (fields) => tokyo.refund(captured, 1_000n, fields);
    },
    renew: async (tokyo) => {
      const placed = await hold();
      return (fields) => tokyo.renew(placed, fields);
    },
  };

  for (const [name, prepare] of Object.entries(CALLS)) {
    it(`refuses another one, and stores and sends nothing: ${name}`, async () => {
      const act = await prepare(shop);
      const before = await stored();
      for (const fields of [{ currency: 'EUR' }, { currency: 'EUR', idempotencyKey: `wrong-${name}` }]) {
        const { reason, violations } = await refusal(act(fields));
        assert.equal(reason, 'INVALID_REQUEST');
        assert.deepEqual(violations, { currency: 'must be JPY, in which the hold is' });
      }
      assert.deepEqual(await stored(), before);
    });

    it(`takes its own, and a repetition without one is the same request: ${name}`, async () => {
      const act = await prepare(shop);
      const idempotencyKey = `right-${name}`;
      const first = await act({ currency: 'JPY', idempotencyKey });
      const again = await act({ idempotencyKey });
      assert.equal((again as { replayed: boolean }).replayed, true);
      assert.deepEqual(named(again), named(first));
      const { reason } = await refusal(act({ currency: 'EUR', idempotencyKey }));
      assert.equal(reason, 'INVALID_REQUEST');
    });
  }

  it('says of a hold that does not exist that it does not, whatever the currency', async () => {
    const preauthorizationId = `pre_${'A'.repeat(32)}`;
    const { reason } = await refusal(shop.capture({ preauthorizationId }, 1n, { currency: 'EUR' }));
    assert.equal(reason, 'PREAUTHORIZATION_NOT_FOUND');
  });

  it('comes before what the amount or the state of the hold is refused for', async () => {
    const placed = await hold();
    await shop.release(placed);
    const { reason } = await refusal(shop.capture(placed, 999_999n, { currency: 'EUR' }));
    assert.equal(reason, 'INVALID_REQUEST');
  });

  const stored = () => sql(stage, 'select count(*) as claims, (select count(*) from hold) as holds from claim');
  const named = (answer: object) =>
    JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? `${value}` : value)).match(/[0-9a-f-]{36}/)?.[0];
});
