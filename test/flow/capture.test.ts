import assert from 'node:assert/strict';
import type { Shop } from '../../services/quickstart/shop.ts';
import { openOracle } from '../services/sandbox/oracle.ts';
import { type Stack, useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

const ORDER = { currency: 'EUR', terminalId: 'till-1', userId: 'bob', amount: 1000 };

describe('a capture', () => {
  const stack = forSuite(useStack);

  it('full capture', async () => {
    const hold = await place(stack.shop);
    const { status, body } = await capture(stack.shop, hold, 1000);
    assert.equal(status, 200);
    assert.deepEqual([body.status, body.amountCaptured, body.amountRemaining], ['OK', 1000, 0]);
    assert.equal(body.preauthorizationStatus, 'CAPTURED');
    const again = await capture(stack.shop, hold, 1);
    assert.deepEqual([again.status, again.body.code], [409, 'HOLD_CAPTURED']);
  });

  it('partial capture', async () => {
    const { status, body } = await capture(stack.shop, await place(stack.shop), 400);
    assert.deepEqual([status, body.amountCaptured, body.amountRemaining], [200, 400, 600]);
    assert.deepEqual([body.preauthorizationStatus, body.finalCapture], ['PARTIALLY_CAPTURED', false]);
  });

  it('several partial captures when the contract allows', async () => {
    const hold = await place(stack.shop);
    for (const [amount, remaining] of [
      [500, 500],
      [300, 200],
      [200, 0],
    ] as const) {
      const { status, body } = await capture(stack.shop, hold, amount);
      assert.deepEqual([status, body.amountCaptured, body.amountRemaining], [200, amount, remaining]);
    }
    const { body } = await stack.shop.get(`/preauthorization/${hold.requestId}`);
    assert.deepEqual([body.status, body.amountCaptured, body.captures.length], ['CAPTURED', 1000, 3]);
  });

  it('second capture refused when it does not', async () => {
    const hold = await place(stack.single);
    const first = await capture(stack.single, hold, 400);
    assert.deepEqual([first.status, first.body.amountReleased, first.body.finalCapture], [200, 600, true]);
    const second = await capture(stack.single, hold, 400);
    assert.deepEqual([second.status, second.body.code], [409, 'MULTIPLE_CAPTURES_NOT_ALLOWED']);
  });

  it('amount over the hold → 400', async () => {
    const hold = await place(stack.shop);
    const whole = await capture(stack.shop, hold, 1001);
    assert.deepEqual([whole.status, whole.body.code], [400, 'AMOUNT_EXCEEDS_HOLD']);
    await capture(stack.shop, hold, 600);
    const rest = await capture(stack.shop, hold, 401);
    assert.deepEqual([rest.status, rest.body.code], [400, 'AMOUNT_EXCEEDS_HOLD']);
    assert.equal(rest.body.amountRemaining, 400);
    assert.match(rest.body.detail, /more than what remains of the hold: 400 EUR/);
    const { body } = await stack.shop.get(`/preauthorization/${hold.requestId}`);
    assert.deepEqual([body.amountCaptured, body.captures.length], [600, 1]);
  });

  it('same token, merchantId, terminalId, userId reused at capture', async () => {
    const hold = await place(stack.shop);
    const { body } = await capture(stack.shop, hold, 1000);
    const [authorization, charge] = ledger(stack, hold.requestId, body.requestId);
    assert(authorization !== undefined && charge !== undefined);
    for (const entry of [authorization, charge]) {
      const { tokenId, merchantId, terminalId, userId } = entry;
      assert.deepEqual(
        { tokenId, merchantId, terminalId, userId },
        { tokenId: 'tok_sandbox_ok', merchantId: stack.file.merchantId, terminalId: 'till-1', userId: 'bob' },
      );
    }
  });

  it('bank reference, capture date, amount charged, remaining released recorded', async () => {
    const hold = await place(stack.shop);
    const askedMs = Date.now();
    const { body } = await capture(stack.shop, hold, 700, true);
    assert.match(body.bankReference, /^\S{1,64}$/);
    const capturedMs = Date.parse(body.captureDate);
    assert(askedMs <= capturedMs && capturedMs <= Date.now(), body.captureDate);
    assert.deepEqual([body.amountCaptured, body.amountReleased, body.amountRemaining], [700, 300, 0]);
    const { body: after } = await stack.shop.get(`/preauthorization/${hold.requestId}`);
    assert.deepEqual([after.status, after.amountCaptured, after.amountReleased], ['CAPTURED', 700, 300]);
    assert.equal(after.releaseReason, 'FINAL');
    const [recorded] = after.captures;
    assert.deepEqual([recorded.bankReference, recorded.captureDate], [body.bankReference, body.captureDate]);
  });

  it('processor error at capture → its code and message in the answer', async () => {
    const hold = await place(stack.shop, 'tok_sandbox_capture_error');
    const { status, body } = await capture(stack.shop, hold, 1000);
    assert.deepEqual([status, body.code], [502, 'PROCESSOR_ERROR']);
    assert.equal(body.processorCode, 'capture_error');
    assert.equal(body.processorMessage, 'The processor could not capture.');
    const { body: after } = await stack.shop.get(`/preauthorization/${hold.requestId}`);
    assert.deepEqual([after.amountRemaining, after.captures[0].status], [1000, 'KO']);
    assert.equal(after.captures[0].requestId, body.requestId);
  });
});

async function place(
  shop: Shop,
  tokenId = 'tok_sandbox_ok',
): Promise<{ requestId: string; preauthorizationId: string }> {
  const { status, body } = await shop.post('/preauthorization', { ...ORDER, tokenId });
  assert.equal(status, 201);
  return body;
}

function capture(shop: Shop, hold: { preauthorizationId: string }, amountToCapture: number, finalCapture = false) {
  const { preauthorizationId } = hold;
  return shop.post('/preauthorization/authorization', { preauthorizationId, amountToCapture, finalCapture });
}

/** What the processor's ledger contains about some operations. */
function ledger(stack: Stack, ...requestIds: string[]) {
  const oracle = openOracle(`${stack.dataDir}/sandbox.sqlite`);
  try {
    return requestIds.map((requestId) => oracle.find(requestId));
  } finally {
    oracle.close();
  }
}
