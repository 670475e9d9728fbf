import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { payAtCheckout } from '../../services/quickstart/customer.ts';
import { openPage, submit } from '../services/sandbox/checkout/browse.ts';
import { useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

const ORDER = { currency: 'EUR', terminalId: 'till-1', userId: 'ann' };

describe('a hold', () => {
  const stack = forSuite(useStack);

  it('hold with token', async () => {
    const { status, body } = await stack.shop.post('/preauthorization', {
      ...ORDER,
      tokenId: 'tok_sandbox_ok',
      amount: 1050,
      merchantReference: 'order-7',
      metadata: { basket: '42' },
    });
    assert.equal(status, 201);
    assert.match(body.preauthorizationId, /^pre_[A-Za-z0-9_-]{32}$/);
    assert.match(body.requestId, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    const { merchantId } = stack.file;
    const expected = { ...ORDER, merchantId, status: 'IN_PROGRESS', amount: 1050, merchantReference: 'order-7' };
    const amounts = { amountCaptured: 0, amountRemaining: 1050, amountReleased: 0 };
    for (const [name, value] of Object.entries({ ...expected, ...amounts })) assert.equal(body[name], value, name);
    assert(Date.parse(body.expiresAt) > Date.now());
    assert.equal(body.checkoutUrl, undefined);
  });

  it('hold without token (checkout URL, id only after completion)', async () => {
    const returnUrl = `${stack.file.demoMerchantUrl}/return?basket=42`;
    const { status, body } = await stack.shop.post('/preauthorization', { ...ORDER, amount: 2500, returnUrl });
    assert.equal(status, 201);
    assert.equal(body.status, 'IN_PROGRESS');
    assert.equal(body.preauthorizationId, undefined);
    assert(Date.parse(body.checkoutExpiresAt) > Date.now());
    const before = await stack.shop.get(`/preauthorization/${body.requestId}`);
    assert.equal(before.body.preauthorizationId, undefined);
    assert.deepEqual(await stack.shop.received(body.requestId), []);
    const location = await payAtCheckout(body.checkoutUrl, '4242424242424242');
    assert.equal(location, `${returnUrl}&requestId=${body.requestId}`);
    await stack.shop.notified(body.requestId, 'authorized');
    const after = await stack.shop.get(`/preauthorization/${body.requestId}`);
    assert.match(after.body.preauthorizationId, /^pre_/);
    assert.deepEqual([after.body.paymentMethodData.brand, after.body.paymentMethodData.last4], ['visa', '4242']);
  });

  it('stays open when a card is declined at the checkout, and is placed by the next one', async () => {
    const order = { ...ORDER, amount: 2500, merchantReference: 'order-7' };
    const { body } = await stack.shop.post('/preauthorization', order);
    assert.match(await (await fetch(body.checkoutUrl)).text(), />order-7</);
    await payAtCheckout(body.checkoutUrl, '4000000000000002');
    const during = await stack.shop.get(`/preauthorization/${body.requestId}`);
    assert.deepEqual([during.body.status, during.body.checkoutUrl], ['IN_PROGRESS', body.checkoutUrl]);
    await payAtCheckout(body.checkoutUrl, '5555555555554444');
    await stack.shop.notified(body.requestId, 'authorized');
    const received = await stack.shop.received(body.requestId);
    assert.deepEqual(
      received.map(({ statusInfo }) => statusInfo),
      ['authorized'],
    );
    const after = await stack.shop.get(`/preauthorization/${body.requestId}`);
    assert.equal(after.body.paymentMethodData.last4, '4444');
  });

  it('fails for good when the customer cancels the checkout', async () => {
    const returnUrl = `${stack.file.demoMerchantUrl}/return`;
    const { body } = await stack.shop.post('/preauthorization', { ...ORDER, amount: 2500, returnUrl });
    const { formToken } = await openPage(body.checkoutUrl);
    const cancelled = await submit(body.checkoutUrl, { formToken, action: 'cancel' });
    assert.equal(cancelled.headers.get('location'), `${returnUrl}?requestId=${body.requestId}`);
    const { body: notification } = await stack.shop.notified(body.requestId, 'failed');
    assert.equal(notification.status, 'KO');
    const after = await stack.shop.get(`/preauthorization/${body.requestId}`);
    assert.deepEqual([after.body.status, after.body.preauthorizationId], ['FAILED', undefined]);
    const operation = await stack.shop.get(`/operations/${body.requestId}`);
    assert.equal(operation.body.processorCode, 'checkout_cancelled');
    assert.equal((await stack.shop.received(body.requestId)).length, 1);
  });

  it('fails for good when the processor fails at the checkout', async () => {
    const { body } = await stack.shop.post('/preauthorization', { ...ORDER, amount: 2500 });
    await payAtCheckout(body.checkoutUrl, '4000000000000119');
    const { body: notification } = await stack.shop.notified(body.requestId, 'failed');
    assert.equal(notification.status, 'KO');
    const after = await stack.shop.get(`/preauthorization/${body.requestId}`);
    assert.deepEqual([after.body.status, after.body.preauthorizationId], ['FAILED', undefined]);
  });

  it('hold released automatically when its period ends', async () => {
    const order = { ...ORDER, tokenId: 'tok_sandbox_expires_2s', amount: 1000 };
    const { body: hold } = await stack.shop.post('/preauthorization', order);
    assert(Date.parse(hold.expiresAt) - Date.now() <= 2_000);
    const after = await until(async () => {
      const { body } = await stack.shop.get(`/preauthorization/${hold.requestId}`);
      return body.status === 'IN_PROGRESS' ? undefined : body;
    });
    assert.deepEqual([after.status, after.amountReleased, after.amountRemaining], ['EXPIRED', 1000, 0]);
    assert.equal(after.releaseReason, 'EXPIRED');
    const { body: results } = await stack.shop.get(`/operations?holdRequestId=${hold.requestId}&operation=EXPIRY`);
    assert(results.items[0].finalStateDate >= hold.expiresAt, 'not before its end');
    const late = { preauthorizationId: hold.preauthorizationId, amountToCapture: 1 };
    const { status, body } = await stack.shop.post('/preauthorization/authorization', late);
    assert.deepEqual([status, body.code], [409, 'HOLD_EXPIRED']);
  });

  it('is released by the merchant, as is a pending checkout', async () => {
    const placed = await stack.shop.post('/preauthorization', { ...ORDER, tokenId: 'tok_sandbox_ok', amount: 1000 });
    const { preauthorizationId } = placed.body;
    const released = await stack.shop.post('/preauthorization/release', { preauthorizationId });
    assert.deepEqual([released.status, released.body.status, released.body.amountReleased], [200, 'RELEASED', 1000]);
    const pending = await stack.shop.post('/preauthorization', { ...ORDER, amount: 1000 });
    const { requestId, checkoutUrl } = pending.body;
    assert.equal((await stack.shop.post('/preauthorization/release', { requestId })).status, 200);
    assert.equal((await fetch(checkoutUrl)).status, 410);
  });

  it('does not exist for another merchant, nor does a malformed id', async () => {
    const { body } = await stack.shop.post('/preauthorization', { ...ORDER, tokenId: 'tok_sandbox_ok', amount: 1000 });
    const answers = await Promise.all([
      stack.single.get(`/preauthorization/${body.requestId}`),
      stack.single.get('/preauthorization/00000000-0000-7000-8000-000000000000'),
      stack.single.get('/preauthorization/nonsense'),
    ]);
    for (const { status, body } of answers) assert.deepEqual([status, body.code], [404, 'PREAUTHORIZATION_NOT_FOUND']);
    const capture = { preauthorizationId: body.preauthorizationId, amountToCapture: 1 };
    assert.equal((await stack.single.post('/preauthorization/authorization', capture)).status, 404);
  });

  it('is placed once for one Idempotency-Key', async () => {
    const order = { ...ORDER, tokenId: 'tok_sandbox_ok', amount: 1000 };
    const key = { 'idempotency-key': `flow-${Date.now()}` };
    const first = await stack.shop.post('/preauthorization', order, key);
    const second = await stack.shop.post('/preauthorization', order, key);
    assert.equal(second.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual([second.status, second.body], [first.status, first.body]);
    const other = await stack.shop.post('/preauthorization', { ...order, amount: 1 }, key);
    assert.deepEqual([other.status, other.body.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
  });
});

/** Polls until there is a result: holds expire in real time here. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await delay(50);
  }
}
