/**
 * Finds out, for the developer of a sender, what was signed instead of what had to be. Nothing of it is told to the
 * sender or logged, and no secret or signature is in it.
 */
import { createHmac } from 'node:crypto';
import { hasCardNumber } from '../../platform/card-number.ts';
import { VerificationFailureReason as Reason } from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { LiveSender } from '../core/credentials.ts';
import type { Claimed } from './verify.ts';
import { fieldsOf, type Received, textOf } from './verify-sender.ts';

/** What had to be signed, which mistake makes the signature that came, and which keys were tried. */
export interface Explanation {
  readonly rule: string;
  /** Empty = none of the usual mistakes makes it. */
  readonly mistake: string;
  readonly signedBegins: string;
  readonly signedBytes: number;
  readonly keyIds: readonly string[];
}

/** A key with its name. */
interface Key {
  readonly id: string;
  readonly key: string;
}

/** A text that may have been signed, and the mistake in it. */
type Guess = readonly [mistake: string, text: string | Buffer];

/** Explains a failure under the merchant's own secrets. */
export function explainOwn({ fields, headers, body }: Claimed, keys: readonly Key[]): Explanation {
  const { merchantId, requestId, status, amount, currency } = fields;
  const texts = [merchantId, requestId, status, amount, currency];
  const right = texts.join('');
  const guesses: Guess[] = [
    ['X-Service-Signature is not in Base64, or not the only one', right],
    ...otherAmounts(amount).map(
      (other): Guess => [
        `amount was signed as ${other}, the body says ${amount}`,
        [merchantId, requestId, status, other, currency].join(''),
      ],
    ),
    ...[' ', ',', '|', '.', ':', ';', '-', '\n'].map(
      (separator): Guess => [
        `the fields were joined by ${JSON.stringify(separator)}; nothing stands between them`,
        texts.join(separator),
      ],
    ),
    ['a line break was signed behind the fields', `${right}\n`],
    ['the whole body was signed instead of the five fields', body],
    ['the fields were signed in the order of their names', sortedByName(fields)],
  ];
  return {
    rule: 'X-Service-Signature is Base64 of HMAC-SHA256 of merchantId, requestId, status, amount, currency, as the body spells them',
    mistake: mistakeIn(textOf(headers, 'x-service-signature'), guesses, keys, 'the whole secret, as text'),
    ...shownOf(right),
    keyIds: keys.map(({ id }) => id),
  };
}

/** Explains a failure where the contract demands Standard Webhooks of the merchant's own secrets. */
export function explainStandard({ headers, body }: Claimed, keys: readonly Key[]): Explanation {
  const credentials = {
    scheme: 'standard-webhooks',
    keyIds: keys.map(({ id }) => id),
    keys: keys.map(({ key }) => key),
  };
  return explainSender({ merchantId: '', credentials } as unknown as LiveSender, { headers, body });
}

/** Explains a failure of another sender, for a reason. */
export function explainSender({ credentials }: LiveSender, { headers, body }: Received, reason?: Reason): Explanation {
  const { scheme, settings, keyIds } = credentials;
  const keys = credentials.keys.map((key, index) => ({ id: keyIds[index] ?? '', key }));
  if (scheme === 'ed25519-body') {
    return { rule: `${settings?.header} is the Ed25519 signature of the body`, mistake: '', ...shownOf(body), keyIds };
  }
  if (scheme === 'service-signature') {
    const fields = fieldsOf(body);
    if (fields) return explainOwn({ fields, headers, body }, keys);
    const mistake = 'the body is no notification with the five signed fields';
    return { rule: 'X-Service-Signature is that of the five fields', mistake, ...shownOf(body), keyIds };
  }
  const [rule, signed, header] = ruleOf(scheme, settings, { headers, body });
  const guesses: Guess[] = [
    ['the signature is written in another way: see header, encoding and prefix', signed],
    ['the body alone was signed', body],
    ['a line break was signed behind the body', Buffer.concat([signed, Buffer.from('\n')])],
    ['the body was signed without its last line break', trimmed(signed)],
    ...reprinted(body).map(
      (text): Guess => ['the body was printed anew after it was signed', prefixed(signed, body, text)],
    ),
  ];
  const right = scheme === 'standard-webhooks' ? 'the decoded secret' : 'the whole secret, as text';
  const stale = `the signature is genuine, but its time is more than ${settings?.toleranceSeconds} s from the clock`;
  const mistake = reason === Reason.STALE_TIMESTAMP ? stale : mistakeIn(header, guesses, keys, right);
  return { rule, mistake, ...shownOf(signed), keyIds };
}

function ruleOf(
  scheme: string,
  settings: LiveSender['credentials']['settings'],
  { headers, body }: Received,
): [rule: string, signed: Buffer, header: string | undefined] {
  if (scheme === 'standard-webhooks') {
    const [id = '', time = ''] = [textOf(headers, 'webhook-id'), textOf(headers, 'webhook-timestamp')];
    const rule =
      'webhook-signature is v1, and Base64 of HMAC-SHA256 of webhook-id, webhook-timestamp and the body, joined by dots';
    return [rule, Buffer.concat([Buffer.from(`${id}.${time}.`), body]), textOf(headers, 'webhook-signature')];
  }
  const { header = '', encoding = '', timestamped = false } = settings ?? {};
  const value = textOf(headers, header);
  if (!timestamped) return [`${header} is HMAC-SHA256 of the body, in ${encoding}`, body, value];
  const time = /(?:^|,)\s*t=([0-9]{1,12})/.exec(value ?? '')?.[1] ?? '';
  const rule = `${header} is t=SECONDS,v1= and HMAC-SHA256 of SECONDS, a dot and the body, in ${encoding}`;
  return [rule, Buffer.concat([Buffer.from(`${time}.`), body]), value];
}

/**
 * The first guess whose HMAC under some reading of a key is in the header, in hexadecimal or Base64. The first guess is
 * the right text, and `right` the right reading.
 */
function mistakeIn(
  header: string | undefined,
  guesses: readonly Guess[],
  keys: readonly Key[],
  right: Reading,
): string {
  if (header === undefined) return 'there is no signature';
  const readings = [right, ...(Object.keys(READINGS) as Reading[]).filter((reading) => reading !== right)];
  for (const reading of readings) {
    for (const { key } of keys) {
      const bytes = READINGS[reading](key);
      if (bytes === undefined) continue;
      for (const [index, [mistake, text]] of guesses.entries()) {
        const digest = createHmac('sha256', bytes).update(text).digest();
        const isIn =
          header.includes(digest.toString('base64')) || header.toLowerCase().includes(digest.toString('hex'));
        if (!isIn) continue;
        const isTextWrong = index > 0 || reading === right;
        return [...(isTextWrong ? [mistake] : []), ...(reading === right ? [] : [`the key was ${reading}`])].join('; ');
      }
    }
  }
  return '';
}

/** How senders take a secret for a key. */
const READINGS = {
  'the whole secret, as text': (secret: string) => Buffer.from(secret),
  'the decoded secret': (secret: string) => afterPrefix(secret, 'base64'),
  'the secret without whsec_': (secret: string) => afterPrefix(secret, 'utf8'),
} as const;
type Reading = keyof typeof READINGS;

function afterPrefix(secret: string, encoding: BufferEncoding): Buffer | undefined {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), encoding) : undefined;
}

/** An amount as other programs print it: 10.5, 10.50, 10.500; without a dot, 1050; and as minor units of it. */
function otherAmounts(amount: string): string[] {
  const value = Number(amount);
  const spelled = [String(value), ...[1, 2, 3, 4].map((digits) => value.toFixed(digits)), amount.replace('.', '')];
  const scaled = [String(Math.round(value * 100)), String(value / 100), (value / 100).toFixed(2)];
  return [...new Set([...spelled, ...scaled])].filter((other) => other !== amount);
}

function sortedByName(fields: Claimed['fields']): string {
  const entries = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([, value]) => value).join('');
}

/** The body as a program prints it that has parsed it. */
function reprinted(body: Buffer): string[] {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'));
    return [JSON.stringify(json), JSON.stringify(json, null, 2)];
  } catch {
    return [];
  }
}

/** The signed bytes with another body. */
function prefixed(signed: Buffer, body: Buffer, text: string): Buffer {
  return Buffer.concat([signed.subarray(0, signed.length - body.length), Buffer.from(text)]);
}

function trimmed(bytes: Buffer): Buffer {
  return bytes.at(-1) === 10 ? bytes.subarray(0, bytes.at(-2) === 13 ? -2 : -1) : bytes;
}

/** Enough of it to recognise it by. */
const SHOWN = 24;

function shownOf(signed: string | Buffer): Pick<Explanation, 'signedBegins' | 'signedBytes'> {
  const bytes = Buffer.from(signed);
  const begins = bytes
    .subarray(0, SHOWN)
    .toString('latin1')
    .replace(/[^ -~]/g, '?');
  return { signedBegins: hasCardNumber(begins) ? '' : begins, signedBytes: bytes.length };
}
