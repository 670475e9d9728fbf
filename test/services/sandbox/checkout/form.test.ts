import assert from 'node:assert/strict';
import { isLuhnValid } from '../../../../platform/card-number.ts';
import { readCard } from '../../../../services/sandbox/checkout/form.ts';
import { TEST_CARDS } from '../../../../services/sandbox/checkout/test-card.ts';

const NOW_MS = Date.UTC(2026, 5, 30, 23, 59);
const GOOD = { number: '4242424242424242', expiry: '08/31', cvc: '123' };

describe('readCard()', () => {
  const read = (fields: Partial<typeof GOOD>) => readCard(new URLSearchParams({ ...GOOD, ...fields }), NOW_MS);

  it('returns brand, last four digits and expiry, and nothing else', () => {
    const card = { cardBrand: 'visa', cardLast4: '4242', cardExpiryMonth: 8, cardExpiryYear: 2031, behaviour: 'ok' };
    assert.deepEqual(read({ number: ' 4242-4242 4242 4242 ' }), { card, challenged: false });
  });

  it('accepts expiry dates as people write them, valid to the end of the month', () => {
    for (const expiry of ['8/31', '08 / 31', '0831', '08/2031', '08-31', '06/26', '06/46']) {
      assert.ok('card' in read({ expiry }), expiry);
    }
  });

  it('rejects invalid input, field by field', () => {
    const wrong: Array<[keyof typeof GOOD, string]> = [
      ['number', ''],
      ['number', '4242424242424241'],
      ['number', '4242'],
      ['number', '4111111111111111'],
      ['number', '４２４２４２４２４２４２４２４２'],
      ['expiry', ''],
      ['expiry', '05/26'],
      ['expiry', '13/30'],
      ['expiry', '00/30'],
      ['expiry', '07/46'],
      ['expiry', '2031-08'],
      ['cvc', ''],
      ['cvc', '12'],
      ['cvc', '1234'],
      ['cvc', '12a'],
    ];
    for (const [name, value] of wrong) {
      const card = read({ [name]: value });
      assert.ok('errors' in card, `${name} ${value}`);
      assert.deepEqual(Object.keys(card.errors), [name], value);
    }
    assert.deepEqual(Object.keys((readCard(new URLSearchParams(), NOW_MS) as { errors: object }).errors).length, 3);
  });

  it('returns the input, the number in groups of four, so that a digit can be corrected', () => {
    const wrong = read({ number: '4242-424242424241', cvc: '12' });
    assert.deepEqual('typed' in wrong && wrong.typed, { number: '4242 4242 4242 4241', expiry: '08/31', cvc: '12' });
    const letters = read({ number: '4242 x' });
    assert.equal('typed' in letters && letters.typed.number, '4242 x');
  });

  it('does not return a number that may be of a real card, nor its code', () => {
    const real = read({ number: '4111111111111111' });
    assert.deepEqual('typed' in real && real.typed, { expiry: '08/31' });
  });

  it('requires four digits for an American Express card', () => {
    const number = '378282246310005';
    assert.ok('errors' in read({ number, cvc: '123' }));
    assert.ok('card' in read({ number, cvc: '1234' }));
  });
});

describe('TEST_CARDS', () => {
  it('are valid and unique numbers', () => {
    for (const { number } of TEST_CARDS) assert.ok(isLuhnValid(number), number);
    assert.equal(new Set(TEST_CARDS.map(({ number }) => number)).size, TEST_CARDS.length);
  });
});
