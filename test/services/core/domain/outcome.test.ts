import assert from 'node:assert/strict';
import { notificationBody } from '../../../../services/core/domain/notification-body.ts';
import { statusInfoOf, statusOf } from '../../../../services/core/domain/outcome.ts';

const APPROVED = { answer: 'APPROVED', reference: '', bankReference: '' } as const;
const no = (answer: 'DECLINED' | 'NOT_PERFORMED') => ({ answer, code: 'c', message: 'm' });

describe('statusInfoOf()', () => {
  const WORDS = [
    ['HOLD', 'authorized', 'OK'],
    ['CAPTURE', 'captured', 'OK'],
    ['RELEASE', 'released', 'OK'],
    ['EXPIRY', 'expired', 'KO'],
    ['REVERSAL', 'reversed', 'KO'],
    ['REINSTATEMENT', 'reinstated', 'OK'],
    ['OCT', 'paid', 'OK'],
  ] as const;
  for (const [kind, word, status] of WORDS) {
    it(`returns ${word} for a ${kind} that is ${status}`, () => {
      assert.equal(statusInfoOf(kind, APPROVED), word);
      assert.equal(statusOf(kind, APPROVED), status);
      assert.equal(statusInfoOf(kind, no('DECLINED')), 'declined');
      assert.equal(statusInfoOf(kind, no('NOT_PERFORMED')), 'failed');
      assert.equal(statusOf(kind, no('DECLINED')), 'KO');
    });
  }
});

describe('notificationBody()', () => {
  const required = {
    merchantId: 'acme',
    requestId: 'r',
    status: 'OK',
    amount: 999_999_999_999n,
    currency: 'EUR',
    finalStateDate: new Date('2027-01-01T00:00:00.120Z'),
    operation: 'HOLD',
    statusInfo: 'authorized',
  } as const;

  it('prints the amount as a plain integer, and omits absent fields', () => {
    assert.equal(
      notificationBody(required),
      '{"merchantId":"acme","requestId":"r","status":"OK","amount":999999999999,"currency":"EUR",' +
        '"finalStateDate":"2027-01-01T00:00:00.120Z","operation":"HOLD"}',
    );
  });

  it('has tokenData only when a token was generated', () => {
    const card = { brand: 'visa', last4: '4242', expiryMonth: 1, expiryYear: 2030, funding: 'debit' };
    const body = JSON.parse(notificationBody({ ...required, card, generatedTokenId: 'tok', reference: 'ref' }));
    assert.deepEqual(body.tokenData, { tokenId: 'tok' });
    assert.deepEqual(body.paymentMethodData, { type: 'card', ...card });
    assert.equal(body.reference, 'ref');
  });
});
