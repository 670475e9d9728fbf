/** How the relay answers forged notifications, and notifications while a secret is rotated. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { signNotification } from '../../client/webhooks/signature.ts';
import { asOperator, type Merchants } from './as-operator.ts';
import type { QuickstartFile } from './quickstart.ts';
import { type Answer, expect, type Shop } from './shop.ts';

/** What a step of the demo works with. */
export interface Scene {
  readonly file: QuickstartFile;
  readonly shop: Shop;
  /** The merchant whose contract allows one capture. */
  readonly single: Shop;
  /** Prints what was seen. */
  saw(text: string): void;
}

/** A random signature does not verify, nor does a genuine one for another amount. */
export async function forge({ file, shop, saw }: Scene): Promise<void> {
  const { requestId, body, sign, send } = notification(shop, file);
  expect(401, await send(randomBytes(32).toString('base64')));
  saw('401 for a random signature');
  const raised = body.replace('"10.50"', '"99.50"');
  assert.notEqual(raised, body);
  expect(401, await send(sign(file.signingSecret), 'payment/captured', raised));
  saw('401 for a genuine signature under a changed amount');
  assert.deepEqual(await shop.received(requestId), []);
  saw('nothing reached the demo merchant');
}

/** A repeated notification is a duplicate. */
export async function replay({ file, shop, saw }: Scene): Promise<void> {
  const { requestId, body, sign, send } = notification(shop, file);
  const signature = sign(file.signingSecret);
  const first = expect(200, await send(signature));
  assert.equal(first.headers.get('x-relay-duplicate'), null);
  const second = expect(200, await send(signature));
  assert.equal(second.headers.get('x-relay-duplicate'), 'true');
  const received = await shop.notified(requestId);
  assert.deepEqual([received.bodyText, received.verified, received.duplicateCount], [body, true, 0]);
  saw('200 for the genuine one; 200 and X-Relay-Duplicate for the replayed one; forwarded once, byte for byte');
}

/** The path is not signed, so a payment's body under an OCT's path has a genuine signature. */
export async function swapKind({ file, shop, saw }: Scene): Promise<void> {
  const { requestId, sign, send } = notification(shop, file);
  const signature = sign(file.signingSecret);
  expect(200, await send(signature));
  const conflict = expect(202, await send(signature, 'oct/paid'));
  assert.equal(conflict.headers.get('x-relay-held'), 'conflict');
  saw('202 and X-Relay-Held: conflict for a payment’s body sent to /oct/paid: that requestId is a payment for ever');
  const fresh = notification(shop, file);
  const contradicted = expect(202, await fresh.send(fresh.sign(file.signingSecret), 'oct/captured'));
  assert.equal(contradicted.headers.get('x-relay-held'), 'contradiction');
  saw('202 and X-Relay-Held: contradiction for one sent to /oct/captured: no OCT is captured');
  await shop.notified(requestId, 'captured');
  assert.equal((await shop.received(requestId)).length, 1);
  assert.deepEqual(await shop.received(fresh.requestId), []);
  saw('both are in quarantine; the demo merchant received the payment alone');
}

/**
 * A second secret works beside the first until it is retired. The demo retires the newer one, because the demo merchant
 * knows only the first.
 */
export async function rotate({ file, shop, saw }: Scene): Promise<void> {
  const { merchantId, signingSecret: older } = file.singleCapture;
  const signed = (secret: string) => {
    const { sign, send } = notification(shop, file.singleCapture);
    return send(sign(secret));
  };
  await asOperator(file, async (merchants) => {
    await retireNewer(merchants, merchantId);
    const { secret: newer, signingSecret } = await merchants.addSigningSecret({ merchantId });
    assert(signingSecret);
    await untilAnswered(200, () => signed(newer));
    expect(200, await signed(older));
    saw('AddSigningSecret: 200 for the newer secret, and 200 for the older one');
    await merchants.retireSigningSecret({ merchantId, signingSecretId: signingSecret.signingSecretId });
    await untilAnswered(401, () => signed(newer));
    expect(200, await signed(older));
    saw('RetireSigningSecret: 401 for the retired secret, 200 for the one that is left');
  });
}

/** A demo that died between the two calls left a second secret, and a merchant can have no third. */
async function retireNewer(merchants: Merchants, merchantId: string): Promise<void> {
  const { merchant } = await merchants.getMerchant({ merchantId });
  const live = merchant?.signingSecrets.filter(({ retiredAt }) => retiredAt === undefined) ?? [];
  // The ids are UUIDv7, so they sort by time.
  const [, ...newer] = live.map(({ signingSecretId }) => signingSecretId).sort();
  for (const signingSecretId of newer) await merchants.retireSigningSecret({ merchantId, signingSecretId });
}

/** The gateway learns of a change within 5 s. */
async function untilAnswered(status: number, send: () => Promise<Answer>): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
    const answer = await send();
    if (answer.status === status || waitedMs >= KNOWN_WITHIN_MS) return void expect(status, answer);
    await delay(LOOK_AGAIN_MS);
  }
}

const KNOWN_WITHIN_MS = 5_000;
/** Failed verifications are counted: after ten in a minute the answer is 429. */
const LOOK_AGAIN_MS = 1_000;

/** A new notification of a captured payment: signs it, and sends it. */
function notification(shop: Shop, { merchantId }: { readonly merchantId: string }) {
  const fields = { merchantId, requestId: randomUUID(), status: 'OK', amount: '10.50', currency: 'EUR' };
  const body = JSON.stringify({ ...fields, reference: 'ref-1', finalStateDate: new Date().toISOString() });
  return {
    requestId: fields.requestId,
    body,
    sign: (secret: string) => signNotification(secret, fields),
    send: (signature: string, path = 'payment/captured', text = body) =>
      shop.post(`/webhook/processor/${path}`, text, { 'x-service-signature': signature }),
  };
}
