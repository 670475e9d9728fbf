import { hash } from 'node:crypto';
import { type Words, wordsOf } from '../books/submission-request.ts';
import type { SentKind } from '../domain/kinds.ts';
import { HoldfastError } from '../domain/refusal.ts';
import { type Claim, type ClaimInput, findClaims, findKey } from '../storage/claim/claim-row.ts';
import { findSentUnderKey } from '../storage/claim/key-identifier.ts';
import { restoreWords } from '../storage/imported/restore-words.ts';
import type { Core } from './core.ts';
import { invalidField } from './refuse.ts';

/** The business fields of a call, or of the operation that it made. */
export type Fields = Readonly<Record<string, unknown>>;

/** The names that a call claims, the merchant, and what the call says of its operation. */
export interface Call extends Partial<Words> {
  readonly requestId: string;
  /** Undefined = an operator's call, for the merchant of the hold. */
  readonly merchantId: string | undefined;
  readonly claim: ClaimInput;
}

/**
 * The claim of a call besides its requestId: its idempotency key, and the fingerprint of its business fields. Equal
 * fields make equal fingerprints in any order. Nothing volatile is included (times, addresses, the key itself). A field
 * with its default value equals an absent one: `defaults` has those of optional fields.
 */
export function claimOf(key: string | undefined, method: SentKind, fields: Fields, defaults: Fields = {}): ClaimInput {
  const same = Object.entries(defaults).filter(([name, value]) => (fields[name] ?? value) === value);
  const spelledOut = Object.fromEntries(same);
  const leftOut = Object.fromEntries(same.map(([name]) => [name, undefined]));
  const alike = () => [leftOut, spelledOut].map((spelling) => fingerprintOf({ ...fields, ...spelling }));
  return { method, fingerprint: fingerprintOf(fields), key, ...(same.length > 0 && { alike }) };
}

/** SHA-256 over business fields, hexadecimal. */
function fingerprintOf(fields: Fields): string {
  const ordered = sorted(fields)
    .filter(([, value]) => value != null)
    .map(([name, value]) => [name, typeof value === 'object' ? sorted(value as object) : String(value)]);
  return hash('sha256', JSON.stringify(ordered));
}

/**
 * Returns whether this call has made the operation of its requestId before. Throws INVALID_REQUEST when another call
 * did.
 */
export async function isRepeated(core: Core, call: Call, merchantId = call.merchantId): Promise<boolean> {
  const [claim] = await findClaims(core.database.query, [call.requestId]);
  if (!claim) return false;
  if (claim.merchantId === merchantId && isSame(claim, call.claim)) return true;
  throw invalidField('operation_request_id', 'names another operation already');
}

/**
 * Finds the operation that the key of a call made before; undefined when the key is free, or there is none. `agrees`
 * compares the call with an imported operation, whose key is lost, field by field; what the merchant said of it is lost,
 * too, and is now what the call says. Throws IDEMPOTENCY_KEY_REUSED when it was another method's, or the fields differ.
 */
export async function findByKey(
  core: Core,
  call: Call,
  agrees: (requestId: string) => Promise<boolean>,
): Promise<string | undefined> {
  const { query } = core.database;
  const { claim, merchantId } = call;
  const { key, method } = claim;
  if (key === undefined || merchantId === undefined) return undefined;
  const first = await findKey(query, merchantId, key);
  if (first && isSame(first, claim)) return first.requestId;
  if (!first) {
    const table = method === 'HOLD' ? 'hold' : 'submission';
    const sent = await findSentUnderKey(query, table, { merchantId, method, key }, core.clock());
    if (sent === undefined) return undefined;
    if (await agrees(sent)) {
      await restoreWords(query, sent, wordsOf(call));
      return sent;
    }
  }
  throw new HoldfastError('IDEMPOTENCY_KEY_REUSED', 'the idempotency key was used with other fields or another method');
}

function isSame(first: Claim, { method, fingerprint, alike = () => [] }: ClaimInput): boolean {
  const known = first.fingerprint?.toString('hex') ?? '';
  return first.method === method && (known === fingerprint || alike().includes(known));
}

/**
 * Returns whether a call agrees with an imported operation, of which the processor's books may lack fields. A call
 * without an amount agrees with any amount.
 */
export function agreeing(imported: Fields, call: Fields): boolean {
  const names = ['tokenId', 'terminalId', 'userId', 'currency', ...(call.amount === undefined ? [] : ['amount'])];
  return names.every((name) => (imported[name] ?? '') === '' || imported[name] === call[name]);
}

function sorted(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
