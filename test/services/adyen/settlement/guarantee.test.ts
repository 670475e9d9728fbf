import assert from 'node:assert/strict';
import { readSettings } from '../../../../platform/settings.ts';
import type { Entry } from '../../../../services/adyen/ledger/entry.ts';
import { ADYEN_SETTINGS } from '../../../../services/adyen/settings.ts';
import { guaranteedUntil } from '../../../../services/adyen/settlement/guarantee.ts';

const ACTED = Date.parse('2026-09-01T00:00:00Z');
const DAY_MS = 24 * 60 * 60 * 1000;

const authorization = {
  kind: 'authorization',
  cardBrand: 'visa',
  customerPresent: true,
  actedAt: new Date(ACTED),
  expiresAt: new Date(ACTED + 28 * DAY_MS),
} as Entry;

describe('guaranteedUntil() at Adyen', () => {
  const daysOf = (fields: Partial<Entry>, isPreAuth = false, chosen = {}) => {
    const until = guaranteedUntil({ ...authorization, ...fields }, isPreAuth, chosen);
    return until && (until.getTime() - ACTED) / DAY_MS;
  };

  const cases: readonly [about: string, fields: Partial<Entry>, isPreAuth: boolean, days: number | null][] = [
    ['a Visa card whose customer is present', {}, false, 10],
    ['one whose customer is absent', { customerPresent: false }, false, 5],
    ['a wallet with a Visa card', { cardBrand: 'visa_applepay' }, false, 10],
    ['a final authorization of Mastercard', { cardBrand: 'mc' }, false, 7],
    ['a pre-authorization of Mastercard, which Adyen ends sooner', { cardBrand: 'mc' }, true, 28],
    ['a scheme of which nothing is known', { cardBrand: 'carnet' }, false, null],
    ['a card of which nothing is known', { cardBrand: '' }, false, null],
    ['an extension', { kind: 'extension' }, true, null],
    ['a hold that ends before', { expiresAt: new Date(ACTED + DAY_MS) }, false, 1],
  ];
  for (const [about, fields, isPreAuth, days] of cases) {
    it(`is ${days ?? 'unknown, in'} days of ${about}`, () => assert.equal(daysOf(fields, isPreAuth), days));
  }

  it('is what ADYEN_GUARANTEE_DAYS says instead, by the longest name that fits', () => {
    const chosen = { visa: 7, visa_applepay: 3, jcb: 4 };
    assert.equal(daysOf({ customerPresent: false }, true, chosen), 7);
    assert.equal(daysOf({ cardBrand: 'visa_applepay' }, false, chosen), 3);
    assert.equal(daysOf({ cardBrand: 'jcb' }, false, chosen), 4);
    assert.equal(daysOf({ cardBrand: 'amex' }, false, chosen), 7);
  });

  it('is set by names with days, and nothing else', () => {
    const setting = ADYEN_SETTINGS.pick({ ADYEN_GUARANTEE_DAYS: true });
    const read = (ADYEN_GUARANTEE_DAYS: string) => readSettings(setting, { ADYEN_GUARANTEE_DAYS }).ADYEN_GUARANTEE_DAYS;
    assert.deepEqual(read('visa=7,mc=30'), { visa: 7, mc: 30 });
    assert.deepEqual(read(''), {});
    for (const wrong of ['visa', 'visa=0', 'visa=31', 'visa=7,', 'visa=7;mc=3', 'Visa=7', 'visa=7d'])
      assert.throws(() => read(wrong), /ADYEN_GUARANTEE_DAYS: must be names of cards/, wrong);
  });
});
