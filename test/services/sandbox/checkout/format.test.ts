import assert from 'node:assert/strict';
import { timeOfDay } from '../../../../services/sandbox/checkout/format.ts';

describe('timeOfDay()', () => {
  it('is UTC', () => {
    const { text } = timeOfDay(Date.UTC(2026, 5, 1, 14, 30));
    assert.match(text, /^<time datetime="2026-06-01T14:30:00.000Z">2:30\sPM UTC<\/time>$/);
  });
});
