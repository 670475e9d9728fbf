import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CURRENCIES } from '../../../platform/currencies.ts';
import { adyenStep, fromAdyen, toAdyen } from '../../../services/adyen/amount.ts';

describe('amounts as Adyen counts them', () => {
  const cases = [
    ['EUR', 1_050n, 1_050],
    ['JPY', 500n, 500],
    ['KWD', 5_124n, 5_124],
    ['ISK', 5n, 500],
    ['CLP', 999_999_999_999n, 99_999_999_999_900],
    ['IDR', 500n, 5],
    ['CVE', 100n, 1],
    ['IDR', 550n, undefined],
    ['CVE', 1n, undefined],
    ['ZZZ', 500n, undefined],
  ] as const;
  for (const [currency, amount, expected] of cases) {
    it(`${amount} ${currency} is ${expected ?? 'refused'}`, () => assert.equal(toAdyen(amount, currency), expected));
  }

  it('are converted back to the same amounts, in every currency', () => {
    fc.assert(
      fc.property(fc.constantFrom(...CURRENCIES), fc.bigInt(1n, 999_999_999_999n), (currency, amount) => {
        const value = toAdyen(amount, currency);
        assert.equal(value === undefined, amount % (adyenStep(currency) ?? 0n) !== 0n);
        if (value !== undefined) assert.equal(fromAdyen({ value, currency }), amount);
      }),
    );
  });

  it('are never rounded when converted back', () => {
    assert.equal(fromAdyen({ value: 550, currency: 'ISK' }), undefined);
    assert.equal(fromAdyen({ value: 550, currency: 'ZZZ' }), undefined);
    assert.equal(fromAdyen({ value: 3, currency: 'CVE' }), 300n);
  });
});
