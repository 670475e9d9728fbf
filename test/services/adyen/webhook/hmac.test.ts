import assert from 'node:assert/strict';
import { isSigned, signatureOf } from '../../../../services/adyen/webhook/hmac.ts';

/** Vectors of Adyen's own libraries: one item under two keys. */
const ITEM = {
  pspReference: '7914073381342284',
  merchantAccountCode: 'TestMerchant',
  merchantReference: 'TestPayment-1407325143704',
  amount: { value: 1130, currency: 'EUR' },
  eventCode: 'AUTHORISATION',
  success: 'true',
};
const KEYS = {
  '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056': 'coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=',
  DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00: 'Ny9gS2veKo5E4w8/OL6xz1/wvT/hYkAXy1xNc/QvO4I=',
};

describe('signatureOf()', () => {
  for (const [key, signature] of Object.entries(KEYS)) {
    it(`is what Adyen's libraries compute with ${key.slice(0, 8)}…`, () => {
      assert.equal(signatureOf(ITEM, key), signature);
      assert(isSigned({ ...ITEM, additionalData: { hmacSignature: signature } }, ['0'.repeat(64), key]));
    });
  }

  it('covers every field that says what happened', () => {
    const [[key = '', hmacSignature] = []] = Object.entries(KEYS);
    const changes = [
      { pspReference: '1' },
      { originalReference: '1' },
      { merchantAccountCode: 'Other' },
      { merchantReference: 'other' },
      { amount: { value: 1131, currency: 'EUR' } },
      { amount: { value: 1130, currency: 'USD' } },
      { eventCode: 'CAPTURE' },
      { success: 'false' },
      { additionalData: {} },
    ];
    for (const change of changes) assert(!isSigned({ ...ITEM, additionalData: { hmacSignature }, ...change }, [key]));
  });
});
