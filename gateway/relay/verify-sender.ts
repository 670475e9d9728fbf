/** Verifies notifications of a merchant's other senders, by the scheme of the sender and never by the request's. */
import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  decodeSignature,
  type SignedFields,
  verifyNotification,
  verifyStandardWebhook,
} from '../../client/webhooks/signature.ts';
import { VerificationFailureReason as Reason } from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { RelaySenderSettings } from '../../proto/gen/holdfast/v1/relay_pb.js';
import type { Credentials, LiveSender } from '../core/credentials.ts';
import { parseNotification } from './notification.ts';

/** A notification as it was received. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Why a notification is not accepted; undefined = it is. `identifier`: the one that its scheme signs, if any. */
export interface Judged {
  readonly reason: Reason | undefined;
  readonly identifier?: string | undefined;
  /** The header that its scheme reads, as it was sent. */
  readonly signature?: string | undefined;
}

/**
 * Like verifySender(), but fetches the newest senders and keys before it reports a failure, as verifyWithNewest() does.
 * Throws UNAVAILABLE when core does not answer.
 */
export async function verifySenderWithNewest(
  credentials: Pick<Credentials, 'senderOf' | 'refresh'>,
  senderId: string,
  received: Received,
): Promise<{ readonly sender: LiveSender | undefined; readonly judged: Judged }> {
  const judge = () => {
    const sender = credentials.senderOf(senderId);
    return { sender, judged: verifySender(sender, received, Date.now() / 1_000) };
  };
  const first = judge();
  if (first.judged.reason === undefined) return first;
  await credentials.refresh();
  return judge();
}

/**
 * Judges a notification of a sender; undefined = there is none. Every failure does the work of all schemes, each with
 * two keys, so that its time reveals neither which senders exist nor how they sign. `nowSeconds`: seconds since 1970.
 */
export function verifySender(sender: LiveSender | undefined, received: Received, nowSeconds: number): Judged {
  const scheme = SCHEMES.find((each) => each === sender?.credentials.scheme);
  const judged = sender && scheme ? judge(scheme, sender, received, nowSeconds) : { reason: Reason.UNKNOWN_SENDER };
  if (judged.reason === undefined) return judged;
  for (const other of SCHEMES) if (other !== scheme) judge(other, NOBODY, received, nowSeconds);
  return judged;
}

function judge(scheme: Scheme, { merchantId, credentials }: LiveSender, received: Received, nowSeconds: number) {
  const keys = [...credentials.keys, ...DUMMIES[scheme]].slice(0, KEYS);
  const settings = credentials.settings ?? NO_SETTINGS;
  return CHECKS[scheme]({ keys, settings, merchantId, nowSeconds, ...received });
}

interface Case extends Received {
  /** Two, dummies among them. */
  readonly keys: readonly string[];
  readonly settings: Pick<RelaySenderSettings, 'header' | 'encoding' | 'prefix' | 'timestamped' | 'toleranceSeconds'>;
  readonly merchantId: string;
  readonly nowSeconds: number;
}

const SCHEMES = ['service-signature', 'standard-webhooks', 'hmac-sha256-body', 'ed25519-body'] as const;
type Scheme = (typeof SCHEMES)[number];

const CHECKS: Readonly<Record<Scheme, (one: Case) => Judged>> = {
  'service-signature': checkServiceSignature,
  'standard-webhooks': checkStandardWebhook,
  'hmac-sha256-body': checkHmac,
  'ed25519-body': checkEd25519,
};

/** Most live keys of a sender. */
const KEYS = 2;

const DUMMY_SECRETS = Array.from({ length: KEYS }, () => `whsec_${randomBytes(32).toString('base64')}`);

/** Keys in the place of missing ones. Nothing verifies against them. */
const DUMMIES: Readonly<Record<Scheme, readonly string[]>> = {
  'service-signature': DUMMY_SECRETS,
  'standard-webhooks': DUMMY_SECRETS,
  'hmac-sha256-body': DUMMY_SECRETS,
  'ed25519-body': Array.from({ length: KEYS }, () => {
    return generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }) as string;
  }),
};

const NO_SETTINGS = { header: '', encoding: 'hex', prefix: '', timestamped: false, toleranceSeconds: 300 };
const NOBODY = { merchantId: '', credentials: { keys: [] as string[] } } as unknown as LiveSender;
const NO_FIELDS: SignedFields = { merchantId: '', requestId: '', status: '', amount: '', currency: '' };

/** The five fields; the merchant must be the sender's, and the requestId identifies the notification. */
function checkServiceSignature({ keys, merchantId, headers, body }: Case): Judged {
  const fields = fieldsOf(body);
  const header = textOf(headers, 'x-service-signature');
  const verified = verifyNotification(keys, fields ?? NO_FIELDS, header);
  if (verified && fields?.merchantId === merchantId) return { reason: undefined, identifier: fields.requestId };
  return refused(header, decodeSignature(header));
}

/** The five fields of a body; undefined when it is no notification. */
export function fieldsOf(body: Buffer): SignedFields | undefined {
  try {
    return parseNotification(body);
  } catch {
    return undefined;
  }
}

/**
 * Standard Webhooks v1. An id with a dot is refused: the signed text has dots between id, time and body, and could be
 * cut at another one.
 */
function checkStandardWebhook({ keys, settings, headers, body, nowSeconds }: Case): Judged {
  const [id, timestamp, signature] = STANDARD_HEADERS.map((name) => textOf(headers, name));
  const sentSeconds = Number(timestamp);
  const verified = verifyStandardWebhook(keys, { id, timestamp, signature }, body, sentSeconds);
  if (verified && id !== undefined && IDENTIFIER.test(id) && !id.includes('.')) {
    return { reason: staleness(sentSeconds, settings, nowSeconds), identifier: id };
  }
  const isMissing = id === undefined || timestamp === undefined || signature === undefined;
  return refused(isMissing ? undefined : signature, signature?.match(/^v1,[A-Za-z0-9+/]{43}=/));
}

const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/** What identifies a notification: visible ASCII. */
export const IDENTIFIER = /^[!-~]{1,128}$/;

/** HMAC-SHA256 of the body, or of a time, a dot and the body. */
function checkHmac({ keys, settings, headers, body, nowSeconds }: Case): Judged {
  const header = textOf(headers, settings.header);
  // Both forms are read, also of a header that is absent, so that the time does not show which one counts.
  const timed = timedClaims(header ?? NO_HEADER, settings.encoding);
  const plain = plainClaims(header ?? NO_HEADER, settings);
  const { time, claims } = settings.timestamped ? timed : plain;
  let verified = false;
  for (const key of keys) {
    const signed = time === undefined ? '' : `${time}.`;
    const digest = createHmac('sha256', key).update(signed).update(body).digest();
    for (const claimed of claims.length > 0 ? claims : [undefined]) {
      const equal = timingSafeEqual(digest, claimed ?? NO_DIGEST);
      verified = (equal && claimed !== undefined) || verified;
    }
  }
  if (!verified || header === undefined) return refused(header, claims[0]);
  return { reason: time === undefined ? undefined : staleness(Number(time), settings, nowSeconds) };
}

const NO_DIGEST = Buffer.alloc(32);
const NO_HEADER = `t=1,v1=${'0'.repeat(64)}`;
/** A sender with two live secrets sends two signatures; more than a few are refused. */
const MOST_CLAIMS = 8;

interface Claims {
  /** The time that is signed; undefined = none is. */
  readonly time: string | undefined;
  /** The signatures in a header, as far as they are well-formed. */
  readonly claims: readonly Buffer[];
}

function plainClaims(header: string, { encoding, prefix }: Case['settings']): Claims {
  const claimed = header.startsWith(prefix) && decode(header.slice(prefix.length), encoding, NO_DIGEST.length);
  return { time: undefined, claims: claimed ? [claimed] : [] };
}

/** `t=SECONDS,v1=SIGNATURE`. A second time, or one with leading zeros, has two readings: then there are no claims. */
function timedClaims(header: string, encoding: string): Claims {
  const parts = header.split(',', MOST_CLAIMS + 2).map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith('t='));
  const time = times[0]?.slice('t='.length) ?? '';
  const isClear = times.length === 1 && /^[1-9][0-9]{0,11}$/.test(time) && parts.length <= MOST_CLAIMS + 1;
  if (!isClear) return { time: '0', claims: [] };
  const signed = parts.filter((part) => part.startsWith('v1='));
  return { time, claims: signed.flatMap((part) => decode(part.slice('v1='.length), encoding, NO_DIGEST.length) ?? []) };
}

function checkEd25519({ keys, settings, headers, body }: Case): Judged {
  const header = textOf(headers, settings.header);
  const text = header?.startsWith(settings.prefix) ? header.slice(settings.prefix.length) : '';
  const decoded = decode(text, settings.encoding, NO_SIGNATURE.length);
  const claimed = isReduced(decoded ?? NO_SIGNATURE) ? decoded : undefined;
  let verified = false;
  for (const key of keys) {
    const genuine = verify(null, body, createPublicKey(key), claimed ?? NO_SIGNATURE);
    verified = (genuine && claimed !== undefined) || verified;
  }
  return verified ? { reason: undefined } : refused(header, claimed);
}

/** One of another text by another key: one of zeros would be verified faster. */
const NO_SIGNATURE = sign(null, randomBytes(32), generateKeyPairSync('ed25519').privateKey);

/** Whether S is below the order of the group (RFC 8032, section 5.1.7): OpenSSL refuses others at once, which shows. */
function isReduced(signature: Buffer): boolean {
  return BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) < ORDER;
}

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** The bytes of a signature in its one spelling, but for the case of hex; undefined for anything else. */
function decode(text: string, encoding: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, encoding === 'base64' ? 'base64' : 'hex');
  if (bytes.length !== length) return undefined;
  const canonical = encoding === 'base64' ? bytes.toString('base64') : bytes.toString('hex');
  return canonical === (encoding === 'base64' ? text : text.toLowerCase()) ? bytes : undefined;
}

function refused(signature: string | undefined, decoded: unknown): Judged {
  if (signature === undefined) return { reason: Reason.MISSING_SIGNATURE };
  return { reason: decoded ? Reason.WRONG_SIGNATURE : Reason.MALFORMED_SIGNATURE, signature };
}

function staleness(atSeconds: number, { toleranceSeconds }: Case['settings'], nowSeconds: number): Reason | undefined {
  return Math.abs(nowSeconds - atSeconds) <= toleranceSeconds ? undefined : Reason.STALE_TIMESTAMP;
}

/** Several headers of one name come as one, joined by commas. */
export function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  return name === '' ? undefined : headers[name]?.toString();
}
