import assert from 'node:assert/strict';
import { hasCardNumber } from '../../../gateway/rest/card-number.ts';

describe('hasCardNumber()', () => {
  const cards = [
    '4111111111111111',
    '378282246310005',
    '6011 1111 1111 1117',
    'x4222222222222y',
    '5555-5555-5555-4444',
  ];
  const others = [
    '4111111111111112',
    '411111111111',
    '0199a1b2-0000-7000-8000-000000000001',
    'order-1700000000005',
    '4'.repeat(20),
  ];

  for (const text of cards) it(`sees the card number in ${text}`, () => assert.equal(hasCardNumber(text), true));
  for (const text of others) it(`sees none in ${text}`, () => assert.equal(hasCardNumber(text), false));

  it('sees none in a UUID, whatever its digits add up to', () => {
    for (const digit of '0123456789') assert.equal(hasCardNumber(`f0f0f0f0-4111-4111-9111-${digit}aaaaaaaaaaa`), false);
    const beside = [...'0123456789'].filter((digit) => hasCardNumber(`0f0f-4111-4111-9111-${digit}aaa`));
    assert.equal(beside.length, 1);
  });

  it('sees a Luhn-valid run that is the whole text, whatever it begins with', () => {
    const digits = '170000000000';
    const valid = [...'0123456789'].map((check) => digits + check).filter(hasCardNumber);
    assert.equal(valid.length, 1);
  });
});
