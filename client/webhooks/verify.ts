import {
  decodeSignature,
  InvalidSecret,
  SIGNED_FIELDS,
  type SignedFields,
  verifyNotification,
  verifyStandardWebhook,
} from './signature.ts';

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
  /** The kind of the operation; absent in a test notification, and in one about an endpoint or a secret. */
  readonly operation?: string;
  /**
   * The kind and statusInfo of the path, such as `payment.captured` or `oct.paid`; of a test `payment.test`. Absent in
   * what another sender sent through the relay, or an older version of Holdfast. About an endpoint or a secret, for
   * endpoints that ask for it: `endpoint.failing`, `endpoint.disabled`, `delivery.dead`, `signing_secret.expiring`.
   */
  readonly type?: string;
  /** The endpoint that such a notification is about. */
  readonly endpointId?: string;
  readonly test?: true;
  /** Why it is KO, in the processor's words: not for customers. */
  readonly processorCode?: string;
  readonly processorMessage?: string;
  /** The hold right after this result, whatever has happened to it since; absent for OCTs. */
  readonly hold?: HoldAfter;
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

/** A hold right after a result: fields of `GET /preauthorization/{requestId}`. Amounts are minor units. */
export interface HoldAfter {
  readonly status: string;
  readonly phase: string;
  readonly amount: number;
  readonly amountCaptured: number;
  readonly amountRemaining: number;
  readonly amountReleased: number;
  readonly amountRefunded: number;
  readonly amountReversed: number;
  /** RFC 3339; absent while it is not placed. */
  readonly expiresAt?: string;
  /** RFC 3339; absent when the processor has not said. */
  readonly guaranteedUntil?: string;
  readonly [field: string]: unknown;
}

/** Headers of a request, their names in any case: those of node:http, Express, Koa and Fastify, or of fetch. */
export type RequestHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null };

/**
 * Why a request is no genuine notification. NO_SECRET: there is none to verify with. WRONG_SECRET: none of them signed
 * it. PARSED_BODY: what was passed is no body but what a parser made of it. STALE: genuine, but more than 5 minutes from
 * the clock of this machine. MISSING_HEADER, MALFORMED_HEADER: one of the three `webhook-` headers. CHANGED_BODY: not byte
 * for byte as it was sent, such as parsed and written again.
 */
export type InvalidReason =
  | 'NO_SECRET'
  | 'WRONG_SECRET'
  | 'PARSED_BODY'
  | 'STALE'
  | 'MISSING_HEADER'
  | 'MALFORMED_HEADER'
  | 'CHANGED_BODY';

/** Thrown for a request that is no genuine notification: answer it with 401, and do nothing else. */
export class InvalidNotification extends Error {
  override readonly name = 'InvalidNotification';
  /** For your own log, not for the sender. */
  readonly reason: InvalidReason;

  constructor(message?: string, reason: InvalidReason = 'WRONG_SECRET') {
    super(message);
    this.reason = reason;
  }
}

/**
 * Verifies a notification by its Standard Webhooks headers, which cover the whole body and its age. `rawBody` is the
 * body byte for byte, before any parser; `secrets` are all live signing secrets. Returns the notification. Throws
 * InvalidNotification, whose `reason` says why, and InvalidSecret for a secret that is none, such as an empty one.
 */
export function verify(
  headers: RequestHeaders,
  rawBody: Uint8Array | string,
  secrets: readonly string[],
  nowMs = Date.now(),
): Notification {
  if (!Array.isArray(secrets)) throw new InvalidSecret('secrets must be a list of all live signing secrets');
  const header = headerOf(headers);
  const [id, timestamp, signature] = HEADERS.map(header);
  const body = typeof rawBody === 'string' || isBytes(rawBody) ? rawBody : '';
  const nowSeconds = Math.floor(nowMs / 1_000);
  const isGenuine = (atSeconds: number) =>
    verifyStandardWebhook(secrets, { id, timestamp, signature }, body, atSeconds);
  if (body === rawBody && isGenuine(nowSeconds))
    return parsed(body) ?? invalid('CHANGED_BODY', 'the body is no JSON object');

  if (body !== rawBody)
    invalid('PARSED_BODY', 'rawBody is not the bytes or the text of the body: pass it before any parser');
  if (secrets.length === 0) invalid('NO_SECRET', 'there is no signing secret to verify with');
  const missing = HEADERS.filter((name) => header(name) === undefined);
  if (missing.length > 0)
    invalid('MISSING_HEADER', `${missing.join(', ')}: absent; does a proxy or a framework remove it?`);
  if (!isId(id)) invalid('MALFORMED_HEADER', 'webhook-id is no text');
  if (!isTimestamp(timestamp)) invalid('MALFORMED_HEADER', 'webhook-timestamp is no number of seconds');
  if (!isSignature(signature)) invalid('MALFORMED_HEADER', 'webhook-signature has no signature such as v1,…=');
  const ageSeconds = nowSeconds - Number(timestamp);
  if (isGenuine(Number(timestamp))) {
    const when = `${Math.abs(ageSeconds)} s ${ageSeconds < 0 ? 'after' : 'before'} the clock of this machine`;
    invalid('STALE', `sent ${when}, and 300 are allowed: is the clock right?`);
  }
  if (body.length === 0) invalid('CHANGED_BODY', 'the body is empty: was it read before?');
  if (hasSignedFields(body, header('x-service-signature'), secrets))
    invalid('CHANGED_BODY', 'the body is not byte for byte as it was sent: was it parsed and written again?');
  return invalid('WRONG_SECRET', 'none of the secrets signed this body: is it the secret of this merchant?');
}

const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

function invalid(reason: InvalidReason, message: string): never {
  throw new InvalidNotification(message, reason);
}

/** Looks a header up, in any case of its name; undefined = absent. One that came once may be a list of one. */
function headerOf(headers: RequestHeaders): (name: string) => unknown {
  const known = (headers ?? {}) as Readonly<Record<string, unknown>> & { get?: unknown };
  if (typeof known.get === 'function') {
    const { get } = known;
    return (name) => get.call(headers, name) ?? undefined;
  }
  const byName = new Map(Object.entries(known).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = byName.get(name);
    return (Array.isArray(value) && value.length <= 1 ? value[0] : value) ?? undefined;
  };
}

/** Bytes of any realm: a test runner may have a Uint8Array of its own. */
function isBytes(body: unknown): body is Uint8Array {
  return ArrayBuffer.isView(body);
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== '';
}

function isTimestamp(timestamp: unknown): timestamp is string {
  return typeof timestamp === 'string' && /^[0-9]{1,12}$/.test(timestamp) && String(Number(timestamp)) === timestamp;
}

function isSignature(signature: unknown): boolean {
  if (typeof signature !== 'string') return false;
  return signature.split(' ').some((claim) => claim.startsWith('v1,') && decodeSignature(claim.slice(3)) !== undefined);
}

/** Returns whether X-Service-Signature, which covers five fields alone, is one of the body with one of the secrets. */
function hasSignedFields(body: Uint8Array | string, signature: unknown, secrets: readonly string[]): boolean {
  const notification: Readonly<Record<string, unknown>> = parsed(body) ?? {};
  const fields = Object.fromEntries(SIGNED_FIELDS.map((name) => [name, String(notification[name])]));
  return verifyNotification(secrets, fields as unknown as SignedFields, signature);
}

/** The notification in a body; undefined when there is none. */
function parsed(body: Uint8Array | string): Notification | undefined {
  try {
    const value: unknown = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Notification) : undefined;
  } catch {
    return undefined;
  }
}
