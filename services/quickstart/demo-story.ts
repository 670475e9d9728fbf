/** The main job from a merchant's side. Each step prints what it saw, and throws when it saw anything else. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { payAtCheckout } from './customer.ts';
import { forge, replay, rotate, type Scene, swapKind } from './demo-relay.ts';
import type { QuickstartFile } from './quickstart.ts';
import { type Answer, expect, openShop, type Shop } from './shop.ts';

/** Plays all steps in order. */
export async function playDemo(file: QuickstartFile, print: (line: string) => void): Promise<void> {
  const shop = openShop(file);
  const single = openShop({ ...file, ...file.singleCapture });
  const scene: Scene = { file, shop, single, saw: (text) => print(`   ${text}`) };
  for (const [index, [title, play]] of STEPS.entries()) {
    print(`\n${index + 1}. ${title}`);
    await play(scene);
  }
}

const STEPS: readonly (readonly [string, (scene: Scene) => Promise<void>])[] = [
  ['Hold 10.00 EUR with a card token, capture 4.00, 3.00, and the rest as final', captureInParts],
  ['Add to a hold, let it end later, capture a part, and refund half of that', changeAndRefund],
  ['Renew a hold, and have another one captured at a time', renewAndWait],
  ['Capture more than the hold', overCapture],
  ['Capture twice where the contract allows one capture', captureTwice],
  ['Hold without a token: the customer enters a card at the checkout and lets it be saved', checkout],
  ['Send money to a card (OCT), and fail to', sendMoney],
  ['Capture while the processor fails', captureError],
  ['Forge a notification: a random signature, and a genuine one for another amount', forge],
  ['Send a genuine notification, and replay it', replay],
  ['Send a payment’s notification as that of an OCT', swapKind],
  ['Rotate the signing secret', rotate],
];

async function captureInParts({ shop, saw }: Scene): Promise<void> {
  const hold = await place(shop, 'tok_sandbox_ok', 1000);
  assert.match(hold.preauthorizationId, /^pre_/);
  await notified(shop, hold.requestId, 'authorized', 'OK');
  saw('201: placed, with a preauthorizationId; the demo merchant received "authorized", verified');
  const parts = [
    { amount: 400, remaining: 600, released: 0, status: 'PARTIALLY_CAPTURED' },
    { amount: 300, remaining: 300, released: 0, status: 'PARTIALLY_CAPTURED' },
    { amount: 200, final: true, remaining: 0, released: 100, status: 'CAPTURED' },
  ];
  for (const { amount, final = false, remaining, released, status } of parts) {
    const { body } = expect(200, await capture(shop, hold.preauthorizationId, amount, final));
    assert.equal(body.amountCaptured, amount);
    assert.equal(body.amountRemaining, remaining);
    assert.equal(body.amountReleased, released);
    assert.equal(body.preauthorizationStatus, status);
    assert(body.captureDate && body.bankReference);
    await notified(shop, body.requestId, 'captured', 'OK');
    saw(
      `200: captured ${amount}, remaining ${remaining}, released ${released}, ${status}; "captured" received, verified`,
    );
  }
  const { body } = expect(200, await shop.get(`/preauthorization/${hold.requestId}`));
  assert.deepEqual([body.amountCaptured, body.amountReleased, body.captures.length], [900, 100, 3]);
  saw('the hold shows 900 captured in three captures, 100 released');
}

async function changeAndRefund({ shop, saw }: Scene): Promise<void> {
  const { requestId, preauthorizationId, expiresAt } = await place(shop, 'tok_sandbox_ok', 1000);
  const more = { preauthorizationId, amountToAdd: 500 };
  const { body: added } = expect(200, await shop.post('/preauthorization/increment', more));
  assert.deepEqual([added.amountAdded, added.amount, added.amountRemaining], [500, 1500, 1500]);
  await notified(shop, added.requestId, 'incremented', 'OK');
  saw('200: 500 added, 1500 may be captured; "incremented" received, verified');
  const { body: later } = expect(200, await shop.post('/preauthorization/extend', { preauthorizationId }));
  assert(later.expiresAt > expiresAt, `${later.expiresAt} is not after ${expiresAt}`);
  saw('200: it ends later');
  const { body: captured } = expect(200, await capture(shop, preauthorizationId, 1200));
  const half = { captureRequestId: captured.requestId, amount: 600 };
  const { body: refund } = expect(201, await shop.post('/refund', half));
  assert.equal(refund.amountRefunded, 600);
  await notified(shop, refund.requestId, 'refunded', 'OK');
  saw('201: 600 of 1200 refunded; "refunded" received, verified');
  const tooMuch = expect(400, await shop.post('/refund', { ...half, amount: 601 }));
  assert.equal(tooMuch.body.code, 'AMOUNT_EXCEEDS_CAPTURE');
  const { body: hold } = expect(200, await shop.get(`/preauthorization/${requestId}`));
  assert.deepEqual([hold.amountCaptured, hold.amountRefunded, hold.amountRemaining], [1200, 600, 300]);
  saw('400 AMOUNT_EXCEEDS_CAPTURE for 601 more; the hold shows 1200 captured, 600 refunded, 300 left');
}

async function renewAndWait({ shop, saw }: Scene): Promise<void> {
  const first = await place(shop, 'tok_sandbox_ok', 1000);
  const { preauthorizationId } = first;
  const { body: renewed } = expect(201, await shop.post('/preauthorization/renew', { preauthorizationId }));
  assert.deepEqual([renewed.renews, renewed.amount], [first.requestId, 1000]);
  await notified(shop, renewed.requestId, 'authorized', 'OK');
  const released = await until(shop, first.requestId, ({ status }) => status === 'RELEASED');
  assert.equal(released.amountReleased, 1000);
  saw('201: a new hold with the same token; then the old one was released');
  const captureAt = new Date(Date.now() + 2_000).toISOString();
  const order = { ...ORDER, tokenId: 'tok_sandbox_ok', amount: 800, captureAt };
  const { body: waiting } = expect(201, await shop.post('/preauthorization', order));
  assert.equal(waiting.amountRemaining, 800);
  const { captures } = await until(shop, waiting.requestId, ({ amountCaptured }) => amountCaptured === 800);
  await notified(shop, captures[0].requestId, 'captured', 'OK');
  saw('a hold with captureAt was captured by itself, in full, once; "captured" received, verified');
}

/** Reads a hold until it is as awaited, for 15 s. */
async function until(shop: Shop, requestId: string, isSo: (hold: Answer['body']) => boolean): Promise<Answer['body']> {
  for (const endMs = Date.now() + 15_000; ; ) {
    const { body } = expect(200, await shop.get(`/preauthorization/${requestId}`));
    if (isSo(body)) return body;
    assert(Date.now() < endMs, `the hold ${requestId} is still ${body.status} after 15 s`);
    await delay(50);
  }
}

async function overCapture({ shop, saw }: Scene): Promise<void> {
  const hold = await place(shop, 'tok_sandbox_ok', 1000);
  const { body } = expect(400, await capture(shop, hold.preauthorizationId, 1001));
  assert.equal(body.code, 'AMOUNT_EXCEEDS_HOLD');
  saw('400 AMOUNT_EXCEEDS_HOLD for 1001 of 1000');
}

async function captureTwice({ single, saw }: Scene): Promise<void> {
  const hold = await place(single, 'tok_sandbox_ok', 1000);
  const first = expect(200, await capture(single, hold.preauthorizationId, 600));
  assert.deepEqual([first.body.amountReleased, first.body.preauthorizationStatus], [400, 'CAPTURED']);
  saw('200: captured 600, and the remaining 400 is released');
  const second = expect(409, await capture(single, hold.preauthorizationId, 100));
  assert.equal(second.body.code, 'MULTIPLE_CAPTURES_NOT_ALLOWED');
  saw('409 MULTIPLE_CAPTURES_NOT_ALLOWED for the second');
}

async function checkout({ file, shop, saw }: Scene): Promise<void> {
  const returnUrl = `${file.demoMerchantUrl}/return`;
  const order = { ...ORDER, amount: 2500, returnUrl, saveCard: true };
  const { body } = expect(201, await shop.post('/preauthorization', order));
  assert.equal(body.preauthorizationId, undefined);
  assert(body.checkoutUrl);
  saw('201: a checkoutUrl, and no preauthorizationId yet');
  const location = await payAtCheckout(body.checkoutUrl, '4242424242424242');
  assert.equal(location, `${returnUrl}?requestId=${body.requestId}`);
  assert.equal((await fetch(location)).status, 200);
  saw('the customer entered a test card and was sent back to the merchant');
  const notification = await notified(shop, body.requestId, 'authorized', 'OK');
  const tokenId = notification.tokenData?.tokenId;
  assert(tokenId);
  saw('"authorized" received, verified, with the token of the saved card');
  const { body: hold } = expect(200, await shop.get(`/preauthorization/${body.requestId}`));
  assert.match(hold.preauthorizationId, /^pre_/);
  expect(200, await capture(shop, hold.preauthorizationId, 2500));
  saw('the hold has its preauthorizationId now; captured in full');
  const again = await place(shop, tokenId, 500);
  assert.equal((await notified(shop, again.requestId, 'authorized', 'OK')).tokenData, undefined);
  saw('the token places another hold, whose notification carries no tokenData');
}

async function sendMoney({ shop, saw }: Scene): Promise<void> {
  const paid = expect(201, await shop.post('/oct', { ...ORDER, tokenId: 'tok_sandbox_ok', amount: 700 }));
  assert.equal(paid.body.status, 'OK');
  await notified(shop, paid.body.requestId, 'paid', 'OK', 'oct');
  saw('201: paid; "paid" received, verified');
  const declined = expect(402, await shop.post('/oct', { ...ORDER, tokenId: 'tok_sandbox_declined', amount: 700 }));
  assert.equal(declined.body.code, 'CARD_DECLINED');
  await notified(shop, declined.body.requestId, 'declined', 'KO', 'oct');
  saw('402 CARD_DECLINED; "declined" received with status KO, verified');
}

async function captureError({ shop, saw }: Scene): Promise<void> {
  const hold = await place(shop, 'tok_sandbox_capture_error', 1000);
  const { body } = expect(502, await capture(shop, hold.preauthorizationId, 1000));
  assert.equal(body.code, 'PROCESSOR_ERROR');
  assert(body.processorCode && body.processorMessage);
  await notified(shop, body.requestId, 'failed', 'KO');
  saw(`502 PROCESSOR_ERROR with the processor's "${body.processorCode}": ${body.processorMessage}`);
  saw('"failed" received with status KO, verified');
  const { body: after } = expect(200, await shop.get(`/preauthorization/${hold.requestId}`));
  assert.equal(after.amountRemaining, 1000);
  saw('the hold is whole: 1000 may still be captured');
}

const ORDER = { currency: 'EUR', terminalId: 'till-1', userId: 'ann' };

async function place(shop: Shop, tokenId: string, amount: number) {
  return expect(201, await shop.post('/preauthorization', { ...ORDER, tokenId, amount })).body;
}

function capture(
  shop: Shop,
  preauthorizationId: string,
  amountToCapture: number,
  finalCapture = false,
): Promise<Answer> {
  const closing = finalCapture ? { finalCapture } : {};
  return shop.post('/preauthorization/authorization', { preauthorizationId, amountToCapture, ...closing });
}

async function notified(shop: Shop, requestId: string, statusInfo: string, status: 'OK' | 'KO', kind = 'payment') {
  const notification = await shop.notified(requestId, statusInfo);
  assert.equal(notification.kind, kind);
  assert.equal(notification.verified, true);
  assert.equal(notification.body.status, status);
  return notification.body;
}
