import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { NOTIFICATIONS } from '../../gateway/openapi/webhooks.ts';
import { asOperator } from '../../services/quickstart/as-operator.ts';
import { payAtCheckout } from '../../services/quickstart/customer.ts';
import { openShop } from '../../services/quickstart/shop.ts';
import { untilKnown } from '../../services/quickstart/until-served.ts';
import { confirm } from '../services/sandbox/checkout/browse.ts';
import { type Stack, useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

const ORDER = { currency: 'EUR', terminalId: 'till-1', userId: 'ann', amount: 1000 };

describe('a notification', () => {
  let toClose: Server | undefined;
  const stack = forSuite(useStack);

  after(() => {
    toClose?.close();
    toClose?.closeAllConnections();
  });

  it('payment notification OK and KO', async () => {
    const placed = await stack.shop.post('/preauthorization', { ...ORDER, tokenId: 'tok_sandbox_capture_declined' });
    const { requestId: holdRequestId, preauthorizationId } = placed.body;
    const authorized = await stack.shop.notified(holdRequestId, 'authorized');
    assert.deepEqual([authorized.kind, authorized.body.status, authorized.body.amount], ['payment', 'OK', 1000]);
    const capture = { preauthorizationId, amountToCapture: 300 };
    const refused = await stack.shop.post('/preauthorization/authorization', capture);
    assert.deepEqual([refused.status, refused.body.code], [402, 'CARD_DECLINED']);
    const declined = await stack.shop.notified(refused.body.requestId, 'declined');
    assert.deepEqual([declined.kind, declined.body.status, declined.body.amount], ['payment', 'KO', 300]);
    assert.equal(declined.body.holdRequestId, holdRequestId);
    const found = await stack.shop.get(`/preauthorization/${holdRequestId}`);
    assert.deepEqual(declined.body.paymentMethodData, found.body.paymentMethodData);
  });

  it('carries every field of a notification after a capture', async () => {
    const placed = await stack.shop.post('/preauthorization', { ...ORDER, tokenId: 'tok_sandbox_ok' });
    const { preauthorizationId } = placed.body;
    const capture = { preauthorizationId, amountToCapture: 250, finalCapture: true };
    const askedMs = Date.now();
    const captured = await stack.shop.post('/preauthorization/authorization', capture);
    const answeredMs = Date.now();
    const { body } = await stack.shop.notified(captured.body.requestId, 'captured');
    const { requestId } = captured.body;
    const expected = { merchantId: stack.file.merchantId, requestId, status: 'OK', amount: 250, currency: 'EUR' };
    for (const [name, value] of Object.entries(expected)) assert.equal(body[name], value, name);
    assert(body.reference && body.paymentMethodData);
    const finalMs = Date.parse(body.finalStateDate);
    assert(askedMs <= finalMs && finalMs <= answeredMs, body.finalStateDate);
    assert.equal(body.preauthorizationId, undefined);
    await stack.shop.notified(placed.body.requestId, 'authorized');
  });

  it('has the fields that the document describes', async () => {
    const placed = await stack.shop.post('/preauthorization', { ...ORDER, tokenId: 'tok_sandbox_ok' });
    const { preauthorizationId } = placed.body;
    const extended = await stack.shop.post('/preauthorization/extend', { preauthorizationId });
    const capture = { preauthorizationId, amountToCapture: 1 };
    const captured = await stack.shop.post('/preauthorization/authorization', capture);
    const refunded = await stack.shop.post('/refund', { captureRequestId: captured.body.requestId });
    const told = [
      await stack.shop.notified(placed.body.requestId, 'authorized'),
      await stack.shop.notified(extended.body.extensionRequestId, 'extended'),
      await stack.shop.notified(captured.body.requestId, 'captured'),
      await stack.shop.notified(refunded.body.requestId, 'refunded'),
    ];
    for (const { kind, statusInfo, body } of told) {
      NOTIFICATIONS.paymentNotification.schema.strict().parse(body);
      assert.equal(body.type, `${kind}.${statusInfo}`);
    }
    assert.equal(told[1]?.body.expiresAt, extended.body.expiresAt);
    assert.equal(told[0]?.body.guaranteedUntil, placed.body.guaranteedUntil);
    assert.equal(told[1]?.body.guaranteedUntil, extended.body.guaranteedUntil);
    const { body: found } = await stack.shop.get(`/preauthorization/${placed.body.requestId}`);
    const { hold } = told[3]?.body ?? {};
    assert.deepEqual(Object.fromEntries(Object.keys(hold).map((name) => [name, found[name]])), hold);
    assert.deepEqual([hold.amountCaptured, hold.amountRefunded], [1, 1]);
  });

  it('says why the processor refused, in the words of GET', async () => {
    const refused = await stack.shop.post('/preauthorization', { ...ORDER, tokenId: 'tok_sandbox_insufficient_funds' });
    const { requestId, processorCode, processorMessage } = refused.body;
    assert(processorCode && processorMessage);
    const { body } = await stack.shop.notified(requestId, 'declined');
    const { body: found } = await stack.shop.get(`/operations/${requestId}`);
    for (const told of [body, found])
      assert.deepEqual([told.processorCode, told.processorMessage], [processorCode, processorMessage]);
    assert.deepEqual([body.hold.status, body.hold.phase], ['FAILED', 'FAILED']);
  });

  it('tells funding, 3-D Secure and the decline code, as GET does', async () => {
    /** What the notification and GET say, which must be the same. */
    const told = async (requestId: string, statusInfo: string) => {
      const { body } = await stack.shop.notified(requestId, statusInfo);
      const found = await stack.shop.get(`/preauthorization/${requestId}`);
      assert.deepEqual(found.body.paymentMethodData, body.paymentMethodData);
      return body.paymentMethodData;
    };
    const card = { type: 'card', brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2034 };
    const debit = await stack.shop.post('/preauthorization', { ...ORDER, tokenId: 'tok_sandbox_debit' });
    assert.deepEqual(await told(debit.body.requestId, 'authorized'), { ...card, funding: 'debit' });
    const refused = await stack.shop.post('/preauthorization', { ...ORDER, tokenId: 'tok_sandbox_insufficient_funds' });
    const declined = { ...card, funding: 'credit', declineCode: '51' };
    assert.deepEqual(await told(refused.body.requestId, 'declined'), declined);
    const oct = await stack.shop.post('/oct', { ...ORDER, tokenId: 'tok_sandbox_insufficient_funds' });
    const { body } = await stack.shop.notified(oct.body.requestId, 'declined');
    assert.deepEqual(body.paymentMethodData, declined);
    const { checkoutUrl, requestId } = (await stack.shop.post('/preauthorization', ORDER)).body;
    await payAtCheckout(checkoutUrl, '4000000000003220');
    await confirm(checkoutUrl, 'pass');
    assert.equal((await told(requestId, 'authorized')).threeDSecure, 'authenticated');
  });

  it('OCT notification OK and KO', async () => {
    const paid = await stack.shop.post('/oct', { ...ORDER, tokenId: 'tok_sandbox_ok' });
    assert.deepEqual([paid.status, paid.body.status], [201, 'OK']);
    const ok = await stack.shop.notified(paid.body.requestId, 'paid');
    assert.deepEqual([ok.kind, ok.body.status], ['oct', 'OK']);
    const found = await stack.shop.get(`/oct/${paid.body.requestId}`);
    assert.deepEqual([found.status, found.body.status, found.body.amount], [200, 'OK', 1000]);
    const refused = await stack.shop.post('/oct', { ...ORDER, tokenId: 'tok_sandbox_insufficient_funds' });
    assert.equal(refused.status, 402);
    const ko = await stack.shop.notified(refused.body.requestId, 'declined');
    assert.deepEqual([ko.kind, ko.body.status], ['oct', 'KO']);
  });

  it('reports what the processor does on its own: an end, a reversal and its reinstatement', async () => {
    /** Waits for the result of an operation of a hold. */
    const resultOf = async (holdRequestId: string, operation: string) => {
      for (;;) {
        const { body } = await stack.shop.get(`/operations?holdRequestId=${holdRequestId}&operation=${operation}`);
        if (body.items.length > 0) return body.items[0];
        await delay(100);
      }
    };
    const place = (behaviour: string) =>
      stack.shop.post('/preauthorization', { ...ORDER, tokenId: `tok_sandbox_${behaviour}` });
    const [ended, taken] = await Promise.all([place('ended_early'), place('reversed_reinstated')]);
    const { preauthorizationId } = taken.body;
    const capture = { preauthorizationId, amountToCapture: 250, finalCapture: true };
    const captured = await stack.shop.post('/preauthorization/authorization', capture);
    const expiry = await resultOf(ended.body.requestId, 'EXPIRY');
    const expired = await stack.shop.notified(expiry.requestId, 'expired');
    assert.deepEqual([expired.body.status, expired.body.amount], ['KO', 1000]);
    for (const [operation, word, status] of [
      ['REVERSAL', 'reversed', 'KO'],
      ['REINSTATEMENT', 'reinstated', 'OK'],
    ] as const) {
      const { requestId } = await resultOf(taken.body.requestId, operation);
      const { kind, body } = await stack.shop.notified(requestId, word);
      assert.deepEqual([kind, body.status, body.amount], ['payment', status, 250]);
      assert.equal(body.captureRequestId, captured.body.requestId);
    }
    const { body: hold } = await stack.shop.get(`/preauthorization/${taken.body.requestId}`);
    assert.deepEqual([hold.amountReversed, hold.captures[0].amountReversed], [0, 0]);
  });

  it('tokenData only when a token was generated', async () => {
    for (const saveCard of [true, false]) {
      const opened = await stack.shop.post('/preauthorization', { ...ORDER, saveCard });
      await payAtCheckout(opened.body.checkoutUrl, '4242424242424242');
      const { body } = await stack.shop.notified(opened.body.requestId, 'authorized');
      assert.equal('tokenData' in body, saveCard);
      if (saveCard) {
        const again = await stack.shop.post('/preauthorization', { ...ORDER, tokenId: body.tokenData.tokenId });
        assert.equal(again.status, 201);
        const { body: second } = await stack.shop.notified(again.body.requestId, 'authorized');
        assert.equal('tokenData' in second, false);
      }
    }
  });

  it('signature exactly as specified', async () => {
    const requests: { path: string | undefined; signature: unknown; type: unknown; text: string }[] = [];
    const receiver = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
      const { 'x-service-signature': signature, 'content-type': type } = request.headers;
      requests.push({ path: request.url, signature, type, text });
      response.end();
      receiver.emit('received');
    });
    toClose = receiver;
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const received = once(receiver, 'received');
    const { port } = receiver.address() as AddressInfo;
    const { apiKey, signingSecret } = await createMerchant(stack, `http://127.0.0.1:${port}/hooks`);
    await untilKnown(stack.file.baseUrl, apiKey);
    const direct = openShop({ ...stack.file, apiKey });
    const { body: oct } = await direct.post('/oct', { ...ORDER, tokenId: 'tok_sandbox_ok' });
    await received;
    const [request] = requests;
    assert(request !== undefined);
    assert.equal(request.path, '/hooks/webhook/processor/oct/paid');
    assert.match(String(request.type), /^application\/json/);
    const body = JSON.parse(request.text);
    const amount = /"amount":\s*([^,}]+)/.exec(request.text)?.[1] ?? '';
    const signed = `${body.merchantId}${body.requestId}${body.status}${amount}${body.currency}`;
    assert.equal(signed, `direct${oct.requestId}OK1000EUR`);
    assert.equal(request.signature, createHmac('sha256', signingSecret).update(signed).digest('base64'));
  });
});

/** A merchant that is notified directly, not through the relay. */
function createMerchant(stack: Stack, webhookUrl: string) {
  const contract = { currencies: ['EUR'], terminals: ['till-1'], allowOct: true, webhookUrl };
  const merchant = { merchantId: 'direct', name: 'Notified directly', contract };
  return asOperator(stack.file, (merchants) => merchants.createMerchant(merchant));
}
