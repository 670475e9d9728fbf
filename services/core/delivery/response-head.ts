import { hasCardNumber } from '../../../platform/card-number.ts';
import type { Message } from '../egress/http-sender.ts';
import { HIDDEN, secretTexts } from './secret-fields.ts';

/**
 * The beginning of an endpoint's answer as text to store and show, at most 1 024 characters. An endpoint may echo what
 * it received, so what captures, pays or passes for a notification is hidden: signatures, secret fields and the owner's
 * headers of the message, everything else that looks like a signature, key or token, and card numbers. Control
 * characters are replaced, because PostgreSQL rejects NUL. Undefined = empty.
 */
export function responseHead(head: Buffer, { headers, secretHeaders = [], body }: Message): string | undefined {
  if (head.length === 0) return undefined;
  let text = head.toString('utf8').replace(CONTROL, '\u{FFFD}');
  // A text such as `ok` or `{}`.
  if (text.length < FEWEST) return text;
  const signatures = Object.entries(headers).flatMap(([name, value]) =>
    name.endsWith('signature') ? value.split(/[ ,]/) : [],
  );
  const own = secretHeaders.flatMap((name) => [headers[name] ?? '', ...(headers[name] ?? '').split(' ')]);
  const secrets = [...signatures, ...own, ...secretTexts(body.toString('utf8'))];
  if (secrets.length > MOST_SECRETS) return HIDDEN;
  // Longest first: one secret may be a part of another.
  for (const secret of secrets.sort((a, b) => b.length - a.length)) text = without(text, secret);
  text = text
    .replaceAll(FOUND, HIDDEN)
    .replace(PREFIXED, HIDDEN)
    .replace(BASE64_OF_32_BYTES, HIDDEN)
    .replace(LONG, (run) => (isKey(run) ? HIDDEN : run));
  if (hasCardNumber(text)) text = text.replace(DIGITS, (run) => (hasCardNumber(run) ? HIDDEN : run));
  if (hasCardNumber(text)) text = text.replace(/\p{Nd}/gu, '*');
  // The cut may be within a surrogate pair, and PostgreSQL rejects half of one.
  return text.slice(0, SHOWN_CHARACTERS).toWellFormed();
}

/** Marks a secret, spelled as it is, in JSON that escapes slashes, or in a URL. A very short text is no secret. */
function without(text: string, secret: string): string {
  if (secret.length < FEWEST) return text;
  const spellings = [secret, secret.replaceAll('/', '\\/'), encodeURIComponent(secret.toWellFormed())];
  return spellings.reduce((rest, spelling) => rest.replaceAll(spelling, FOUND), text);
}

/** A run of letters of both cases and digits, as random keys have; a word, a path or a UUID is none. */
function isKey(run: string): boolean {
  return /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run);
}

const FEWEST = 4;
/** A notification of ours has a few. A search for 1 900 took 150 ms, in which nothing else was delivered. */
const MOST_SECRETS = 50;
/** Replaces a secret until all were searched for: `(hidden)` could be taken for another secret, again and again. */
const FOUND = '\0';
const CONTROL = /(?![\n\t])\p{Cc}/gu;
/** Signing secrets, API keys, handles and tokens by their prefixes. */
const PREFIXED = /\b(whsec|hf|pre|tok|pm|card|sk|rk)_[A-Za-z0-9+/=_-]+/g;
/** A signature, with its slashes as they are or escaped. */
const BASE64_OF_32_BYTES = /(?:[A-Za-z0-9+/]|\\\/){43}=/g;
const LONG = /(?:[A-Za-z0-9+/=_-]|\\\/|%2[bBfF]|%3[dD]){24,}/g;
const DIGITS = /\p{Nd}(?:[^\p{L}\p{Nd}]{0,3}\p{Nd}){12,}/gu;
const SHOWN_CHARACTERS = 1_024;
