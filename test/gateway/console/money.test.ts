import assert from 'node:assert/strict';
import { code, codes } from 'currency-codes';

/** A script for browsers, without types. */
const { digitsOf, formatAmount, parseAmount, toDecimal } = await import(
  new URL('../../../gateway/console/page/words/money.js', import.meta.url).href
);

describe('amounts in the console', () => {
  it('have the number of decimals that ISO 4217 gives them', () => {
    for (const currency of codes()) assert.equal(digitsOf(currency), code(currency)?.digits, currency);
    assert.equal(toDecimal(1050, 'XCG'), '10.50');
  });

  for (const [amount, currency, shown, typed] of [
    [1050, 'EUR', '€10.50', '10.50'],
    [5, 'EUR', '€0.05', '0.05'],
    [1050, 'JPY', '¥1,050', '1050'],
    [1050, 'KWD', 'KWD\u00a01.050', '1.050'],
    [999_999_999_999, 'USD', '$9,999,999,999.99', '9999999999.99'],
  ] as const) {
    it(`shows ${amount} ${currency} as ${shown}, and parses its own editable form`, () => {
      assert.equal(formatAmount(amount, currency), shown);
      assert.equal(toDecimal(amount, currency), typed);
      assert.deepEqual(parseAmount(` ${typed} `, currency, amount), { amount });
    });
  }

  for (const [text, currency, amount] of [
    ['4', 'EUR', 400],
    ['4.5', 'EUR', 450],
    ['04.05', 'EUR', 405],
    ['.5', 'EUR', undefined],
    ['4.', 'EUR', undefined],
    ['4,50', 'EUR', undefined],
    ['1,000', 'EUR', undefined],
    ['4.505', 'EUR', undefined],
    ['4.5.0', 'EUR', undefined],
    ['-4', 'EUR', undefined],
    ['4e2', 'EUR', undefined],
    ['€4', 'EUR', undefined],
    ['0', 'EUR', undefined],
    ['0.00', 'EUR', undefined],
    ['', 'EUR', undefined],
    ['10.01', 'EUR', undefined],
    ['4.0', 'JPY', undefined],
    ['4', 'JPY', 4],
    ['0.001', 'KWD', 1],
  ] as const) {
    it(`${amount === undefined ? 'refuses' : 'reads'} "${text}" ${currency} of at most 1000`, () => {
      const read = parseAmount(text, currency, 1000);
      assert.equal(read.amount, amount);
      if (amount === undefined) assert.match(read.error, /\S/);
    });
  }
});
