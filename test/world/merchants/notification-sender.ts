/** Sends signed notifications and repeats each until it is answered 200. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type SignedFields, signNotification } from '../../../client/webhooks/signature.ts';

/** A notification as it was sent, to compare with what arrived. */
export interface Sent {
  readonly requestId: string;
  readonly body: string;
  readonly signature: string;
}

export interface SenderOptions {
  readonly baseUrl: string;
  readonly merchant: { readonly merchantId: string; readonly signingSecret: string };
  readonly random: () => number;
}

export type Sender = ReturnType<typeof openSender>;

/** Opens a sender. */
export function openSender({ baseUrl, merchant, random }: SenderOptions) {
  /** The notifications that were answered 200. */
  const accepted: Sent[] = [];
  const counts = { unavailable: 0, cut: 0, duplicates: 0 };
  const url = `${baseUrl}/webhook/processor/payment/captured`;

  const post = async ({ body, signature }: Sent) => {
    const headers = { 'content-type': 'application/json', 'x-service-signature': signature };
    const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(PATIENCE_MS) });
    await response.arrayBuffer();
    return { status: response.status, duplicate: response.headers.has('x-relay-duplicate') };
  };

  /** Sends until it is stored: returns whether it was a duplicate. Any answer but 200, 503 and none is a fault. */
  const untilAccepted = async (sent: Sent): Promise<boolean> => {
    for (let waitedMs = 0; waitedMs < GIVES_UP_MS; waitedMs += PAUSE_MS) {
      const answer = await post(sent).catch(() => undefined);
      if (answer?.status === 200) return answer.duplicate;
      if (answer) assert.equal(answer.status, 503, `a genuine notification was answered ${answer.status}`);
      counts[answer ? 'unavailable' : 'cut']++;
      await delay(PAUSE_MS);
    }
    throw new Error(`a notification was not accepted within ${GIVES_UP_MS} ms`);
  };

  const sendOne = async () => {
    const sent = makeNotification(merchant, random);
    await untilAccepted(sent);
    accepted.push(sent);
    if (random() >= REPEATED) return;
    assert(await untilAccepted(sent), 'a stored notification is a duplicate when it is sent again');
    counts.duplicates++;
  };

  return {
    accepted,
    counts,
    /** Sends many, some at once, until all are accepted. */
    async send(count: number): Promise<void> {
      let left = count;
      const lane = async () => {
        while (left-- > 0) await sendOne();
      };
      await Promise.all(Array.from({ length: LANES }, lane));
    },
    /** Nothing is sent but by send() and tryOne(), which have ended. */
    stop: async () => undefined,
    /** Sends one once. Returns the status; undefined = no answer. */
    async tryOne(): Promise<number | undefined> {
      const sent = makeNotification(merchant, random);
      const answer = await post(sent).catch(() => undefined);
      if (answer?.status === 200) accepted.push(sent);
      return answer?.status;
    },
  };
}

const LANES = 16;
const PAUSE_MS = 50;
const GIVES_UP_MS = 60_000;
/** Longer than the relay itself waits for core. */
const PATIENCE_MS = 12_000;
/** The share of notifications that are sent again after they were accepted. */
const REPEATED = 0.1;

function makeNotification(merchant: SenderOptions['merchant'], random: () => number): Sent {
  const amount = (random() * 10_000).toFixed(Math.floor(random() * 3));
  const { merchantId, signingSecret } = merchant;
  const fields: SignedFields = { merchantId, requestId: randomUUID(), status: 'OK', amount, currency: 'EUR' };
  const { amount: _, ...rest } = fields;
  const body = `{ "amount": ${amount}, "reference": "ref-\u00e9", ${JSON.stringify(rest).slice(1)}`;
  return { requestId: fields.requestId, body, signature: signNotification(signingSecret, fields) };
}
