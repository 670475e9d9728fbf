import { createHash } from 'node:crypto';
import { HoldfastError } from '../domain/refusal.ts';
import type { IdempotentMethod } from '../storage/idempotency-key/idempotency-key.ts';
import { findImported, findKey, type KeyInput } from '../storage/idempotency-key/idempotency-key.ts';
import type { Core } from './core.ts';
import { FieldCheck } from './server/check-fields.ts';

/**
 * The key of a call, with the fingerprint of its business fields: the same fields make the same fingerprint, whatever their
 * order, and nothing volatile (times, addresses, the key itself) is in it. Throws INVALID_REQUEST when the key contains a card number.
 */
export function keyOf(
  key: string | undefined,
  method: IdempotentMethod,
  fields: Readonly<Record<string, unknown>>,
): KeyInput | undefined {
  if (key === undefined) return undefined;
  const check = new FieldCheck();
  check.text('idempotency_key', key);
  check.refuse();
  return { key, method, fingerprint: fingerprintOf(fields) };
}

/** SHA-256 over business fields, hexadecimal. */
export function fingerprintOf(fields: Readonly<Record<string, unknown>>): string {
  const ordered = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [name, typeof value === 'object' ? sorted(value as object) : String(value)]);
  return createHash('sha256').update(JSON.stringify(ordered)).digest('hex');
}

/**
 * Finds the operation that a key made before; undefined when the key is free. `agrees` compares the call with an operation whose key was
 * lost by a restore, field by field. Errors: IDEMPOTENCY_KEY_REUSED when it was another method's, or the fields differ.
 */
export async function findKeptOperation(
  core: Core,
  merchantId: string,
  key: KeyInput | undefined,
  agrees: Agrees,
): Promise<string | undefined> {
  if (!key) return undefined;
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

/** Whether an imported operation is what a call asks for, as far as the processor's books say it. */
export type Agrees = (requestId: string) => Promise<boolean>;

/** Whether the fields that the processor's books have of an imported operation are those of a call. What they do not say is empty. */
export function agreeing(
  imported: Readonly<Record<string, unknown>> | undefined,
  call: Readonly<Record<string, unknown>>,
) {
  const names = ['tokenId', 'terminalId', 'userId', 'amount', 'currency'].filter((name) => name in call);
  return names.every((name) => (imported?.[name] ?? '') === '' || imported?.[name] === call[name]);
}

/**
 * Checks a call, and lets a repetition pass that would be refused by now, because the contract has changed since. Answers the
 * operation of the first call when that is so. Errors: what `check` throws for a call that is no repetition.
 */
export async function checkUnlessKept(
  core: Core,
  merchantId: string,
  key: KeyInput | undefined,
  agrees: Agrees,
  check: () => void,
): Promise<string | undefined> {
  try {
    check();
    return undefined;
  } catch (refusal) {
    const kept = await findKeptOperation(core, merchantId, key, agrees);
    if (kept === undefined) throw refusal;
    return kept;
  }
}

/** Refuses a repetition while the first call is still running: it started, and recovery has not looked at it yet. */
export function refuseWhileRunning(
  core: Core,
  submission: { requestId: string; inquireAt?: Date | null | undefined; inquiryCount: number },
): void {
  if (submission.inquiryCount === 0 && submission.inquireAt != null && submission.inquireAt > core.clock()) {
    throw new HoldfastError('IDEMPOTENCY_IN_FLIGHT', 'the first call has no result yet; repeat it', {
      requestId: submission.requestId,
      retryAfterS: 1,
    });
  }
}

function sorted(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
