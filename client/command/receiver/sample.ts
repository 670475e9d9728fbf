/** The notifications that `check-receiver` sends: bodies as Holdfast makes them, signed by the same code. */
import { createHmac, randomBytes } from 'node:crypto';
import { type SignedFields, signNotification, signStandardWebhook } from '../../webhooks/signature.ts';

/**
 * What the answer must be. `accept`: 2xx. `refuse`: 4xx. `refuse or close`: also a connection that the receiver closes.
 * `survive`: anything below 500, or a closed connection. `nothing`: no answer is awaited.
 */
type Must = 'accept' | 'refuse' | 'refuse or close' | 'survive' | 'nothing';

/** One request to the receiver. */
export interface Sent {
  readonly must: Must;
  readonly method: string;
  /** Appended to the receiver's address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** The notification that the body has, for --effects; absent = none. */
  readonly requestId?: string;
  /** How often the receiver may act on the notification. */
  readonly effects: 0 | 1;
  /** Sends the body in so many pieces, with pauses. */
  readonly pieces?: number;
}

type Body = Readonly<Record<string, unknown>>;

/** How a request differs from an ordinary delivery. */
interface Change {
  readonly must?: Must;
  readonly effects?: 0 | 1;
  /** The body as it is spelled, and the amount in it. */
  readonly text?: string;
  readonly amount?: string;
  readonly id?: string;
  readonly secret?: string;
  /** The clock of the signature, seconds from now. */
  readonly fromNowSeconds?: number;
  /** The body that is signed instead of the one that is sent. */
  readonly signed?: Body;
}

export type Sample = ReturnType<typeof createSample>;

/** Makes notifications of a merchant, whose requestIds are new in each run and begin with `check-receiver-`. */
export function createSample(merchantId: string, secret: string) {
  const run = `check-receiver-${randomBytes(5).toString('hex')}`;
  let count = 0;
  const newId = () => `${run}-${++count}`;

  /** The body of a notification about a hold of 10.50 EUR, or an OCT. */
  function body(type: string, more: Body = {}): Body {
    const requestId = newId();
    return {
      merchantId,
      requestId,
      status: 'OK',
      amount: 1_050,
      currency: 'EUR',
      finalStateDate: new Date().toISOString(),
      operation: 'CAPTURE',
      type,
      ...(type.startsWith('payment.') && { holdRequestId: `${requestId}-hold`, sequence: 2, hold: HOLD }),
      merchantReference: 'check-receiver',
      ...more,
    };
  }

  /** A delivery of a body: as Holdfast sends it, but for what `change` says. */
  function deliver(given: Body, change: Change = {}): Sent {
    const { must = 'accept', text = JSON.stringify(given), signed } = change;
    const signing = signed ? JSON.stringify(signed) : text;
    const [kind = '', statusInfo = ''] = String(given.type ?? 'payment.captured').split('.');
    return {
      must,
      method: 'POST',
      path: `/webhook/processor/${kind}/${statusInfo}`,
      headers: signatures(signed ?? given, signing, change),
      body: text,
      requestId: String(given.requestId),
      effects: change.effects ?? (must === 'accept' ? 1 : 0),
    };
  }

  function signatures(given: Body, text: string, change: Change): Record<string, string> {
    const { secret: key = secret, id = newId(), fromNowSeconds = 0, amount = String(given.amount) } = change;
    const timestampSeconds = Math.floor(Date.now() / 1_000) + fromNowSeconds;
    return {
      'content-type': 'application/json',
      'user-agent': 'Holdfast/1',
      'x-service-signature': signNotification(key, { ...given, amount } as unknown as SignedFields),
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': signStandardWebhook(key, { id, timestampSeconds, body: text }),
    };
  }

  return { body, deliver, captured: (more?: Body) => body('payment.captured', more), newId };
}

const HOLD = {
  status: 'CAPTURED',
  phase: 'CLOSED',
  amount: 1_050,
  amountCaptured: 1_050,
  amountRemaining: 0,
  amountReleased: 0,
  amountRefunded: 0,
  amountReversed: 0,
};

/** A secret that the receiver does not know. */
export function foreignSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** The request with other headers; undefined takes one away. */
export function withHeaders(sent: Sent, changes: Readonly<Record<string, string | undefined>>): Sent {
  const all = Object.entries({ ...sent.headers, ...changes }).filter(([, value]) => value !== undefined);
  return { ...sent, headers: Object.fromEntries(all) as Record<string, string> };
}

/** Both signatures made with an empty key, as anybody can make them. The signing functions refuse such a secret. */
export function signedWithEmptyKey(sent: Sent): Sent {
  const { merchantId, requestId, status, amount, currency } = JSON.parse(String(sent.body));
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = sent.headers;
  const digest = (text: string) => createHmac('sha256', '').update(text).digest('base64');
  return withHeaders(sent, {
    'x-service-signature': digest(`${merchantId}${requestId}${status}${amount}${currency}`),
    'webhook-signature': `v1,${digest(`${id}.${timestamp}.${sent.body}`)}`,
  });
}
