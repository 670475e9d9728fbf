import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CURRENCIES } from '../../../platform/currencies.ts';
import { chargeBounds, fromStripe, stripeUnits, toStripe } from '../../../services/stripe/amount.ts';

describe('amounts as Stripe counts them', () => {
  const cases = [
    ['EUR', 1_050n, 1_050],
    ['JPY', 500n, 500],
    ['ISK', 5n, 500],
    ['MGA', 500n, 5],
    ['MGA', 550n, undefined],
    ['KWD', 5_120n, 5_120],
    ['KWD', 5_124n, undefined],
    ['HUF', 1_045n, 1_045],
    ['TWD', 80_045n, 80_045],
    ['UGX', 500n, undefined],
    ['LYD', 500n, undefined],
    ['CLF', 500n, undefined],
    ['XTS', 500n, undefined],
    ['ZZZ', 500n, undefined],
  ] as const;
  for (const [currency, amount, expected] of cases) {
    it(`${amount} ${currency} is ${expected ?? 'refused'}`, () => assert.equal(toStripe(amount, currency), expected));
  }

  it('are converted back to the same amounts, in every currency', () => {
    const taken = CURRENCIES.filter((currency) => stripeUnits(currency));
    assert(taken.length > 130);
    fc.assert(
      fc.property(fc.constantFrom(...taken), fc.bigInt(1n, 999_999_999_999n), (currency, amount) => {
        const sent = toStripe(amount, currency);
        if (sent !== undefined) assert.equal(fromStripe(sent, currency.toLowerCase()), amount);
      }),
    );
  });

  for (const [currency, least, most] of [
    ['EUR', 50n, 99_999_999n],
    ['GBP', 30n, 99_999_999n],
    ['HUF', 17_500n, 999_999_999_999n],
    ['JPY', 50n, 999_999_999_999n],
    ['ISK', 1n, 999_999n],
    ['MGA', 100n, 9_999_999_900n],
    ['KWD', 10n, 99_999_990n],
    ['AFN', 1n, 99_999_999n],
  ] as const) {
    it(`of ${currency} are ${least} to ${most}`, () => {
      const bounds = chargeBounds(currency);
      assert.deepEqual([bounds?.smallestAmount, bounds?.largestAmount], [least, most]);
    });
  }

  it('can be sent at both bounds, in every currency that has bounds', () => {
    for (const { currency, smallestAmount, largestAmount } of CURRENCIES.flatMap((code) => chargeBounds(code) ?? [])) {
      assert.notEqual(toStripe(smallestAmount, currency), undefined, currency);
      assert.notEqual(toStripe(largestAmount, currency), undefined, currency);
    }
  });

  it('are never rounded when converted back', () => {
    assert.throws(() => fromStripe(550, 'isk'), RangeError);
    assert.throws(() => fromStripe(100, 'ugx'), RangeError);
  });
});
