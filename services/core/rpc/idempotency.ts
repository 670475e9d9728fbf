import { createHash } from 'node:crypto';
import { HoldfastError } from '../domain/refusal.ts';
import type { IdempotentMethod } from '../storage/claim/claim.ts';
import { findImported, findKey, type KeyInput } from '../storage/claim/claim.ts';
import type { Core } from './core.ts';
import { FieldCheck } from './server/check-fields.ts';

/** The business fields of a call, or of the operation that it made. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * The key of a call, with the fingerprint of its business fields: the same fields make the same fingerprint, whatever their
 * order, and nothing volatile (times, addresses, the key itself) is in it. Throws INVALID_REQUEST when the key contains a card number.
 */
export function keyOf(key: string | undefined, method: IdempotentMethod, fields: Fields): KeyInput | undefined {
  if (key === undefined) return undefined;
  const check = new FieldCheck();
  check.text('idempotency_key', key);
  check.refuse();
  return { key, method, fingerprint: fingerprintOf(fields) };
}

/** SHA-256 over business fields, hexadecimal. */
export function fingerprintOf(fields: Fields): string {
  const ordered = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [name, typeof value === 'object' ? sorted(value as object) : String(value)]);
  return createHash('sha256').update(JSON.stringify(ordered)).digest('hex');
}

/**
 * Finds the operation that a key made before; undefined when the key is free. `agrees` compares the call with an operation whose key was
 * lost by a restore, field by field. Throws IDEMPOTENCY_KEY_REUSED when it was another method's, or the fields differ.
 */
export async function findKeptOperation(
  core: Core,
  merchantId: string,
  key: KeyInput,
  agrees: (requestId: string) => Promise<boolean>,
): Promise<string | undefined> {
  const { query } = core.database;
  const owner = await findKey(query, merchantId, key.key);
  const requestId = owner?.request_id ?? (await findImported(query, merchantId, key, core.clock()));
  if (requestId === undefined) return undefined;
  const isSame = owner
    ? owner.method === key.method && owner.fingerprint.toString('hex') === key.fingerprint
    : await agrees(requestId);
  if (isSame) return requestId;
  throw new HoldfastError('IDEMPOTENCY_KEY_REUSED', 'the idempotency key was used with other fields or another method');
}

/** Whether the fields that the processor's books have of an imported operation are those of a call. What they do not say is empty. */
export function agreeing(imported: Fields, call: Fields): boolean {
  const names = ['tokenId', 'terminalId', 'userId', 'amount', 'currency'];
  return names.every((name) => (imported[name] ?? '') === '' || imported[name] === call[name]);
}

function sorted(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
