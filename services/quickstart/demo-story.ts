/** The main job from a merchant's side. Each step prints what it saw, and throws when it saw anything else. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { answerIssuer, payAtCheckout } from './customer.ts';
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
  ['Add to a hold, let it end later, capture a part, refund half of that, and give a part back', changeAndRefund],
  ['Renew a hold, and have another one captured at a time', renewAndWait],
  ['Keep a hold beyond the guarantee of its authorization', keep],
  ['Capture more than the hold', overCapture],
  ['Capture twice where the contract allows one capture', captureTwice],
  ['Hold without a token: the customer enters a card at the checkout and lets it be saved', checkout],
  ['Hold with a token whose issuer asks the customer for authentication', stepUp],
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
    { amountCaptured: 400, amountRemaining: 600, amountReleased: 0, preauthorizationStatus: 'PARTIALLY_CAPTURED' },
    { amountCaptured: 300, amountRemaining: 300, amountReleased: 0, preauthorizationStatus: 'PARTIALLY_CAPTURED' },
    { amountCaptured: 200, amountRemaining: 0, amountReleased: 100, preauthorizationStatus: 'CAPTURED' },
  ];
  for (const part of parts) {
    const { amountCaptured, amountRemaining, amountReleased, preauthorizationStatus } = part;
    const isLast = preauthorizationStatus === 'CAPTURED';
    const { body } = expect(200, await capture(shop, hold.preauthorizationId, amountCaptured, isLast), part);
    assert(body.captureDate && body.bankReference);
    await notified(shop, body.requestId, 'captured', 'OK');
    const amounts = `captured ${amountCaptured}, remaining ${amountRemaining}, released ${amountReleased}`;
    saw(`200: ${amounts}, ${preauthorizationStatus}; "captured" received, verified`);
  }
  const whole = { amountCaptured: 900, amountReleased: 100 };
  const { body } = expect(200, await shop.get(`/preauthorization/${hold.requestId}`), whole);
  assert.equal(body.captures.length, 3);
  saw('the hold shows 900 captured in three captures, 100 released');
}

async function changeAndRefund({ shop, saw }: Scene): Promise<void> {
  const { requestId, preauthorizationId, expiresAt } = await place(shop, 'tok_sandbox_ok', 1000);
  const more = { preauthorizationId, amountToAdd: 500 };
  const sums = { amountAdded: 500, amount: 1500, amountRemaining: 1500 };
  const { body: added } = expect(200, await shop.post('/preauthorization/increment', more), sums);
  await notified(shop, added.requestId, 'incremented', 'OK');
  saw('200: 500 added, 1500 may be captured; "incremented" received, verified');
  const { body: later } = expect(200, await shop.post('/preauthorization/extend', { preauthorizationId }));
  assert(later.expiresAt > expiresAt, `${later.expiresAt} is not after ${expiresAt}`);
  saw('200: it ends later');
  const { body: captured } = expect(200, await capture(shop, preauthorizationId, 1200));
  const half = { captureRequestId: captured.requestId, amount: 600 };
  const { body: refund } = expect(201, await shop.post('/refund', half), { amountRefunded: 600 });
  await notified(shop, refund.requestId, 'refunded', 'OK');
  saw('201: 600 of 1200 refunded; "refunded" received, verified');
  expect(400, await shop.post('/refund', { ...half, amount: 601 }), { code: 'AMOUNT_EXCEEDS_CAPTURE' });
  const left = { amountCaptured: 1200, amountRefunded: 600, amountRemaining: 300 };
  expect(200, await shop.get(`/preauthorization/${requestId}`), left);
  saw('400 AMOUNT_EXCEEDS_CAPTURE for 601 more; the hold shows 1200 captured, 600 refunded, 300 left');
  const part = { preauthorizationId, amountToRelease: 100 };
  const open = { status: 'PARTIALLY_CAPTURED', amountReleased: 100, amountRemaining: 200 };
  const { body: released } = expect(200, await shop.post('/preauthorization/release', part), open);
  await notified(shop, released.releaseRequestId, 'partially_released', 'OK');
  saw('200: 100 released, 200 left, and the hold is open; "partially_released" received, verified');
}

async function renewAndWait({ shop, saw }: Scene): Promise<void> {
  const { requestId, preauthorizationId } = await place(shop, 'tok_sandbox_ok', 1000);
  const renewal = await shop.post('/preauthorization/renew', { preauthorizationId });
  const { body: renewed } = expect(201, renewal, { renews: requestId, amount: 1000 });
  await notified(shop, renewed.requestId, 'authorized', 'OK');
  const released = await until(shop, requestId, ({ status }) => status === 'RELEASED');
  assert.equal(released.amountReleased, 1000);
  saw('201: a new hold with the same token; then the old one was released');
  const captureAt = new Date(Date.now() + 2_000).toISOString();
  const order = { ...ORDER, tokenId: 'tok_sandbox_ok', amount: 800, captureAt };
  const { body: waiting } = expect(201, await shop.post('/preauthorization', order), { amountRemaining: 800 });
  const { captures } = await until(shop, waiting.requestId, ({ amountCaptured }) => amountCaptured === 800);
  await notified(shop, captures[0].requestId, 'captured', 'OK');
  saw('a hold with captureAt was captured by itself, in full, once; "captured" received, verified');
}

async function keep({ shop, saw }: Scene): Promise<void> {
  const keepUntil = new Date(Date.now() + 30 * 24 * 3_600_000).toISOString();
  const order = { ...ORDER, tokenId: 'tok_sandbox_guarantee_short', amount: 1500, keepUntil };
  const { body: hold } = expect(201, await shop.post('/preauthorization', order), { keepUntil });
  saw('201: guaranteed for 2 seconds, and kept for 30 days');
  const { requestId, preauthorizationId } = hold;
  const kept = await until(shop, requestId, ({ authorizations }) => authorizations.length > 3);
  assert.deepEqual([kept.preauthorizationId, kept.amountRemaining], [preauthorizationId, 1500]);
  const renewals = `/operations?holdRequestId=${requestId}&operation=RENEWAL`;
  const { body: renewed } = expect(200, await shop.get(renewals));
  for (const renewal of renewed.items) await notified(shop, renewal.requestId, 'renewed', 'OK');
  saw('it renewed itself three times, under the same preauthorizationId; "renewed" received, verified');
  expect(200, await capture(shop, preauthorizationId, 1500));
  const isOver = ({ authorizations }: Answer['body']) =>
    authorizations.every((each: { endedAt?: string }) => each.endedAt);
  await until(shop, requestId, isOver);
  saw('200: captured in full, once; the earlier authorizations were given back');
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
  expect(400, await capture(shop, hold.preauthorizationId, 1001), { code: 'AMOUNT_EXCEEDS_HOLD' });
  saw('400 AMOUNT_EXCEEDS_HOLD for 1001 of 1000');
}

async function captureTwice({ single, saw }: Scene): Promise<void> {
  const hold = await place(single, 'tok_sandbox_ok', 1000);
  const closed = { amountReleased: 400, preauthorizationStatus: 'CAPTURED' };
  expect(200, await capture(single, hold.preauthorizationId, 600), closed);
  saw('200: captured 600, and the remaining 400 is released');
  const refused = { code: 'MULTIPLE_CAPTURES_NOT_ALLOWED' };
  expect(409, await capture(single, hold.preauthorizationId, 100), refused);
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

async function stepUp({ file, shop, saw }: Scene): Promise<void> {
  const order = { ...ORDER, tokenId: 'tok_sandbox_challenge', amount: 1200 };
  expect(402, await shop.post('/preauthorization', order), { processorCode: 'authentication_required' });
  saw('402 CARD_DECLINED, authentication_required: the merchant asks its customer, and holds again');
  const present = { ...order, customerPresent: true, returnUrl: `${file.demoMerchantUrl}/return` };
  const { body } = expect(201, await shop.post('/preauthorization', present), { phase: 'AWAITING_CUSTOMER' });
  saw('201: AWAITING_CUSTOMER, with a nextAction');
  const location = await answerIssuer(body.nextAction.url, 'pass');
  assert.equal(location, `${present.returnUrl}?requestId=${body.requestId}`);
  await notified(shop, body.requestId, 'authorized', 'OK');
  const { body: hold } = expect(200, await shop.get(`/preauthorization/${body.requestId}`), { phase: 'AUTHORIZED' });
  expect(200, await capture(shop, hold.preauthorizationId, 1200));
  saw('the customer confirmed and came back; "authorized" received, verified; captured in full');
}

async function sendMoney({ shop, saw }: Scene): Promise<void> {
  const pay = (tokenId: string) => shop.post('/oct', { ...ORDER, tokenId, amount: 700 });
  const paid = expect(201, await pay('tok_sandbox_ok'), { status: 'OK' });
  await notified(shop, paid.body.requestId, 'paid', 'OK', 'oct');
  saw('201: paid; "paid" received, verified');
  const declined = expect(402, await pay('tok_sandbox_declined'), { code: 'CARD_DECLINED' });
  await notified(shop, declined.body.requestId, 'declined', 'KO', 'oct');
  saw('402 CARD_DECLINED; "declined" received with status KO, verified');
}

async function captureError({ shop, saw }: Scene): Promise<void> {
  const hold = await place(shop, 'tok_sandbox_capture_error', 1000);
  const { body } = expect(502, await capture(shop, hold.preauthorizationId, 1000), { code: 'PROCESSOR_ERROR' });
  assert(body.processorCode && body.processorMessage);
  await notified(shop, body.requestId, 'failed', 'KO');
  saw(`502 PROCESSOR_ERROR with the processor's "${body.processorCode}": ${body.processorMessage}`);
  saw('"failed" received with status KO, verified');
  expect(200, await shop.get(`/preauthorization/${hold.requestId}`), { amountRemaining: 1000 });
  saw('the hold is whole: 1000 may still be captured');
}

const ORDER = { currency: 'EUR', terminalId: 'till-1', userId: 'ann' };

async function place(shop: Shop, tokenId: string, amount: number) {
  return expect(201, await shop.post('/preauthorization', { ...ORDER, tokenId, amount })).body;
}

function capture(shop: Shop, preauthorizationId: string, amountToCapture: number, finalCapture = false) {
  return shop.post('/preauthorization/authorization', { preauthorizationId, amountToCapture, finalCapture });
}

async function notified(shop: Shop, requestId: string, statusInfo: string, status: 'OK' | 'KO', kind = 'payment') {
  const notification = await shop.notified(requestId, statusInfo);
  assert.partialDeepStrictEqual(notification, { kind, verified: true, body: { status } });
  return notification.body;
}
