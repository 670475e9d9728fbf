import assert from 'node:assert/strict';
import { formatAmount, timeOfDay } from '../../platform/page-text.ts';

describe('timeOfDay()', () => {
  it('is UTC', () => {
    const { text } = timeOfDay(Date.UTC(2026, 5, 1, 14, 30));
    assert.match(text, /^<time datetime="2026-06-01T14:30:00.000Z">2:30\sPM UTC<\/time>$/);
  });
});

describe('formatAmount()', () => {
  it('follows ISO 4217, whatever Intl uses', () => {
    const amounts: Array<[number, string, string]> = [
      [1_050, 'EUR', '€10.50'],
      [5, 'USD', '$0.05'],
      [1_234, 'JPY', '¥1,234'],
      [1_234, 'KWD', 'KWD 1.234'],
      [100, 'ISK', 'ISK 100'],
      [150_000, 'IDR', 'IDR 1,500.00'],
      [999_999_999_999, 'EUR', '€9,999,999,999.99'],
    ];
    for (const [amount, currency, text] of amounts) {
      assert.equal(formatAmount(amount, currency).replace(/\u00a0/g, ' '), text);
    }
  });
});
