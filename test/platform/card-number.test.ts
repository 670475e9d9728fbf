import assert from 'node:assert/strict';
import { hasCardNumber } from '../../platform/card-number.ts';

describe('hasCardNumber()', () => {
  const cards = [
    '4111111111111111',
    '378282246310005',
    '6011 1111 1111 1117',
    'x4222222222222y',
    '5555-5555-5555-4444',
    'card 4111.1111.1111.1111 of Ann',
    '4111/1111/1111/1111',
    '4111\\1111_1111*1111',
    '4111\u00a01111\u202f1111\u30001111',
    '4111\u200b1111\u20601111\ufeff1111',
    '4\u200b1\u200b1\u200b1\u200b1\u200b1\u200b1\u200b1\u200b1\u200b1\u200b1\u200b1\u200b1\u200b1\u200b1\u200b1',
    '4\u00ad111111111111111',
    '4111\u20111111\u20131111\u22121111',
    '4111 - 1111 - 1111 - 1111',
    '４１１１１１１１１１１１１１１１',
    '④①①①①①①①①①①①①①①①',
    '٤١١١١١١١١١١١١١١١',
    '४१११ ११११ ११११ ११११',
    '𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏',
    '4\u03361\u03361\u03361111111111111',
    '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1',
    '41 11 11 11 11 11 11 11',
    '3782 822463 10005',
    '3056 930902 5904',
    '6304 0000 0000 0000 000',
    '12 4111 1111 1111 1111 12/27',
    '2026-11-21T12:00:00Z 4111111111111111',
    '4242 4242-42424242',
    '12\n4242 4242 4242 4242',
    'DE89 3704 0044 0532 0130 00 4242 4242 4242 4242',
    '["4242","4242","4242","4242"]',
    '+4242424242424242',
    'https://shop.example/?card=4242%C2%A04242%2D4242+4242',
    '%34242424242424242',
    '4242%4242%4242%4242',
    '4242&#160;4242&#x20;4242&thinsp;4242',
  ];
  const others = [
    '4111111111111112',
    '411111111111',
    '0199a1b2-0000-7000-8000-000000000001',
    'order-1700000000005',
    '4'.repeat(20),
    '4111 1111 1111 1112',
    '2026-11-21T12:00:00.003Z',
    '2026-11-21 12:00:04',
    '203.0.113.195:51238',
    '2026/11/21/000017',
    'v20.11.1-2026.11.21.05',
    '1700000000005',
    '+49 1512 3456 789',
    'DE89 3704 0044 0532 0130 00',
    'GB33BUKB20201555555555',
    '',
  ];

  for (const text of cards) it(`finds the card number in ${text}`, () => assert.equal(hasCardNumber(text), true));
  for (const text of others) it(`finds none in ${text}`, () => assert.equal(hasCardNumber(text), false));

  it('finds none in a UUID, whatever its digits add up to', () => {
    for (const digit of '0123456789') assert.equal(hasCardNumber(`f0f0f0f0-4111-4111-9111-${digit}aaaaaaaaaaa`), false);
    const beside = [...'0123456789'].filter((digit) => hasCardNumber(`0f0f-4111-4111-9111-${digit}aaa`));
    assert.equal(beside.length, 1);
  });

  it('finds none in times, versions, addresses and UUIDs, whatever they add up to', () => {
    const two = (value: number) => String(value).padStart(2, '0');
    for (let n = 0; n < 60; n++) {
      const [s, m] = [two(n), two((n * 7) % 60)];
      const innocent = [
        `2026-11-21T12:${m}:${s}Z`,
        `at 2026-11-21 23:${m}:${s}.${two(n)}3 done`,
        `order-17000000000${s}`,
        `at 17000000000${s}${m}99`,
        `203.0.113.${n}:512${s}`,
        `2026/11/21/0000${s}`,
        `550e8400-e29b-41d4-a716-4466554400${s}`,
        `idem_41114111-4111-4111-9111-4111411141${s}`,
      ];
      for (const text of innocent) assert.equal(hasCardNumber(text), false, text);
    }
  });
});
