import { setTimeout as delay } from 'node:timers/promises';
import Stripe from 'stripe';
import type { Account } from './account.ts';
import type { FakeStripe } from './fake-stripe.ts';
import { endIntent } from './payment-intents.ts';
import { closeDispute, createRefund, openDispute, settleRefund } from './refunds.ts';

const EVERY_MS = 50;
const AT_ONCE = 8;
/** How long a pending refund takes. */
const REFUND_S = 1;

/**
 * Performs the delayed effects of a conformance run's cards, and delivers events to an endpoint as Stripe does: signed,
 * retried until they are accepted, every third one twice, and out of order.
 */
export function liveByItself(stripe: FakeStripe, endpoint: string, secret: string): { stop(): Promise<void> } {
  const account = stripe.account();
  const done = new Map<string, number>();
  const waiting = new Map<string, string>();
  let known = 0;
  let stopped = false;

  async function deliver(): Promise<void> {
    for (const event of account.events.slice(known)) waiting.set(event.id, JSON.stringify(event));
    known = account.events.length;
    const all = [...waiting].reverse();
    for (let at = 0; at < all.length; at += AT_ONCE) await Promise.all(all.slice(at, at + AT_ONCE).map(send));
  }

  async function send([id, payload]: readonly [id: string, payload: string]): Promise<void> {
    const times = Number.parseInt(id.slice(-2), 16) % 3 === 0 ? 2 : 1;
    for (let time = 0; time < times; time++) if (await post(endpoint, payload, secret)) waiting.delete(id);
  }

  const running = (async () => {
    while (!stopped) {
      happen(account, done, stripe.requests);
      await deliver();
      await delay(EVERY_MS);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
    },
  };
}

async function post(endpoint: string, payload: string, secret: string): Promise<boolean> {
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
  const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
  return fetch(endpoint, { method: 'POST', headers, body: payload }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** `done`: what has happened, each with how many requests there were before it. */
function happen(account: Account, done: Map<string, number>, requests: FakeStripe['requests']): void {
  const isSeen = (intentId: string) =>
    requests
      .slice(done.get(intentId))
      .some(({ request, form }) => request === 'GET /v1/disputes' && form.payment_intent === intentId);
  const once = (name: string, act: () => void) => {
    if (done.has(name)) return;
    done.set(name, requests.length);
    act();
  };
  for (const intent of account.intents.values()) {
    const { id, amount_received: received, payment_method: card, status } = intent;
    const isCaptured = received > 0;
    if (card === 'pm_card_createDispute' && isCaptured) once(id, () => void openDispute(account, id, received));
    if (card === 'pm_fake_disputeWon' && isCaptured) once(id, () => void openDispute(account, id, received));
    if (card === 'pm_fake_refundedInPart' && isCaptured) {
      once(id, () => void createRefund(account, { payment_intent: id, amount: String(received / 2) }));
    }
    if (card === 'pm_fake_expiresAtOnce' && status === 'requires_capture')
      once(id, () => void endIntent(account, intent, 'expired'));
  }
  const isOlder = (created: number, seconds: number) => account.now() - created > seconds;
  for (const dispute of account.disputes.values()) {
    const { id } = dispute;
    const intentId = String(dispute.payment_intent);
    const card = account.intents.get(intentId)?.payment_method;
    // Only once it was seen open: the adapter reads the current state, and a dispute won before that reversed nothing.
    if (card === 'pm_fake_disputeWon' && isSeen(intentId)) once(id, () => closeDispute(account, id, 'won'));
  }
  for (const { id, status, created } of account.refunds.values()) {
    if (status === 'pending' && isOlder(created, REFUND_S)) once(id, () => settleRefund(account, id, 'succeeded'));
  }
}
