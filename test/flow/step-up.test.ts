import assert from 'node:assert/strict';
import { answerIssuer } from '../../services/quickstart/customer.ts';
import { useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

const ORDER = { currency: 'EUR', terminalId: 'till-1', userId: 'ann', amount: 1050 };

describe('a hold whose issuer asks the customer for authentication', () => {
  const stack = forSuite(useStack);
  const place = (fields: object, headers?: Record<string, string>) =>
    stack.shop.post('/preauthorization', { ...ORDER, tokenId: 'tok_sandbox_challenge', ...fields }, headers);
  const returnUrl = () => `${stack.file.demoMerchantUrl}/return?basket=42`;
  const present = (more: object = {}) => ({ customerPresent: true, returnUrl: returnUrl(), ...more });

  it('waits for the customer, is notified when placed, and captured', async () => {
    const key = { 'idempotency-key': `step-up-${Date.now()}` };
    const first = await place(present(), key);
    const { requestId, nextAction } = first.body;
    const { url, expiresAt } = nextAction;
    assert.deepEqual(first.body, {
      requestId,
      status: 'IN_PROGRESS',
      phase: 'AWAITING_CUSTOMER',
      nextAction: { type: 'redirect', url, expiresAt },
    });
    assert.equal(first.status, 201);
    assert(Date.parse(expiresAt) > Date.now());
    const before = await stack.shop.get(`/preauthorization/${requestId}`);
    assert.deepEqual([before.body.phase, before.body.nextAction], ['AWAITING_CUSTOMER', nextAction]);
    assert.equal(before.body.preauthorizationId, undefined);
    const headers = { authorization: `Bearer ${stack.file.operatorToken}` };
    const seen = await fetch(`${stack.file.baseUrl}/operator/holds/${requestId}`, { headers });
    assert.deepEqual(((await seen.json()) as { nextAction: object }).nextAction, { expiresAt });
    assert.equal(await answerIssuer(url, 'pass'), `${returnUrl()}&requestId=${requestId}`);
    await stack.shop.notified(requestId, 'authorized');
    const { body: placed } = await stack.shop.get(`/preauthorization/${requestId}`);
    assert.deepEqual([placed.phase, placed.nextAction], ['AUTHORIZED', undefined]);
    const { preauthorizationId } = placed;
    const capture = { preauthorizationId, amountToCapture: 1050 };
    assert.equal((await stack.shop.post('/preauthorization/authorization', capture)).status, 200);
    const again = await place(present(), key);
    assert.deepEqual([again.status, again.body], [201, first.body]);
  });

  it('fails when the customer does not confirm', async () => {
    const { body } = await place(present({ tokenId: 'tok_sandbox_ok', threeDSecure: 'challenge' }));
    await answerIssuer(body.nextAction.url, 'fail');
    const { body: notification } = await stack.shop.notified(body.requestId, 'declined');
    assert.equal(notification.status, 'KO');
    const { body: operation } = await stack.shop.get(`/operations/${body.requestId}`);
    assert.equal(operation.processorCode, 'authentication_failed');
  });

  it('is cancelled by the merchant', async () => {
    const { body } = await place(present());
    const released = await stack.shop.post('/preauthorization/release', { requestId: body.requestId });
    assert.deepEqual([released.status, released.body.status], [200, 'FAILED']);
    const { body: operation } = await stack.shop.get(`/operations/${body.requestId}`);
    assert.equal(operation.processorCode, 'authentication_cancelled');
  });

  it('is declined without the customer, or without a way back for it', async () => {
    for (const fields of [{ customerPresent: false }, { customerPresent: true }, {}]) {
      const { status, body } = await place(fields);
      assert.deepEqual([status, body.code, body.processorCode], [402, 'CARD_DECLINED', 'authentication_required']);
    }
  });

  it('refuses what cannot be with 400 and the name of the field', async () => {
    const refused: [object, string][] = [
      [{ returnUrl: returnUrl() }, 'returnUrl'],
      [{ returnUrl: returnUrl(), customerPresent: false }, 'returnUrl'],
      [present({ returnUrl: 'http://shop.example/done' }), 'returnUrl'],
      [{ threeDSecure: 'challenge', customerPresent: true }, 'threeDSecure'],
      [{ threeDSecure: 'challenge', customerPresent: false, returnUrl: returnUrl() }, 'threeDSecure'],
      [present({ threeDSecure: 'always' }), 'threeDSecure'],
    ];
    for (const [fields, field] of refused) {
      const { status, body } = await place(fields);
      assert.equal(status, 400);
      const named = body.errors.map((error: { field: string }) => error.field);
      assert(named.includes(field), `${JSON.stringify(fields)}: ${named}`);
    }
  });
});
