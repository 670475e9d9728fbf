import { InvalidSecret, verifyStandardWebhook } from './signature.ts';

export { InvalidSecret };

/** A notification as its body has it (docs/notifications.md); later versions may add fields. */
export interface Notification {
  readonly merchantId: string;
  /** Names the operation. Deliveries come at least once: handle each requestId once. */
  readonly requestId: string;
  readonly status: 'OK' | 'KO';
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly finalStateDate: string;
  /** The kind of the operation; absent in a test notification. */
  readonly operation?: string;
  readonly test?: true;
  readonly holdRequestId?: string;
  readonly captureRequestId?: string;
  /** The refund or OCT that a REFUND_RETURN or OCT_RETURN is about. */
  readonly refundRequestId?: string;
  readonly octRequestId?: string;
  /** The operation that a CORRECTION corrects. */
  readonly correctsRequestId?: string;
  readonly merchantReference?: string;
  readonly [field: string]: unknown;
}

/** Headers of a request: those of node:http, Express, Koa and Fastify, or of fetch, whoever implements it. */
export type RequestHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null };

/** Thrown for a request that is no genuine notification: answer it with 401, and do nothing else. */
export class InvalidNotification extends Error {
  override readonly name = 'InvalidNotification';
}

/**
 * Verifies a notification by its Standard Webhooks headers, which cover the whole body and its age. `rawBody` is the
 * body byte for byte, before any parser; `secrets` are all live signing secrets. Returns the notification. Throws
 * InvalidNotification, and InvalidSecret for a secret that is none, such as an empty one.
 */
export function verify(
  headers: RequestHeaders,
  rawBody: Uint8Array | string,
  secrets: readonly string[],
  nowMs = Date.now(),
): Notification {
  const header = (name: string): unknown =>
    typeof headers.get === 'function' ? headers.get(name) : (headers as Readonly<Record<string, unknown>>)[name];
  const signed = {
    id: header('webhook-id'),
    timestamp: header('webhook-timestamp'),
    signature: header('webhook-signature'),
  };
  if (verifyStandardWebhook(secrets, signed, rawBody, Math.floor(nowMs / 1_000))) {
    return JSON.parse(typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8'));
  }
  throw new InvalidNotification(
    'webhook-signature is not one of this body under these secrets, or is more than 5 minutes from the clock of this ' +
      'machine',
  );
}
