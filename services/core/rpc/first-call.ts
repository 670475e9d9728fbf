/** The operation of an earlier call under the same name: the stored rows decide the answer, always the same one. */

import assert from 'node:assert/strict';
import { drawnAt } from '../../../platform/draw-id.ts';
import type { Stored } from '../books/submission-request.ts';
import type { SubmissionKind } from '../domain/kinds.ts';
import type { HoldfastError, RefusalCode } from '../domain/refusal.ts';
import { reconcilingSince } from '../storage/reconciling.ts';
import { findSubmission } from '../storage/submission/read-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import { demandRefusal, type First } from './answer-stored.ts';
import type { Core } from './core.ts';
import { type Call, findByKey, isRepeated } from './idempotency.ts';
import {
  capturedOnce,
  exceedsCapture,
  exceedsHold,
  exceedsLimit,
  frozenHold,
  notReleasedInPart,
  otherCurrency,
  reconciling,
  refusalOf,
  renewedAlready,
  tooLate,
} from './refuse.ts';

/**
 * The operation that was stored before under the call's names, when the call was not stored anew; undefined = it was,
 * and is to be sent. Throws UNAVAILABLE when the call's deadline was over, INVALID_REQUEST when its requestId names
 * another operation, RECONCILING while the operation may be lost, and the refusal when there is none.
 */
export async function findFirst(
  core: Core,
  call: Call,
  stored: Stored,
  agrees: (requestId: string) => Promise<boolean>,
): Promise<First | undefined> {
  const { outcome, hold } = stored;
  const merchantId = call.merchantId ?? hold?.merchantId;
  if (outcome === 'STORED') return undefined;
  if (outcome === 'OTHER_CURRENCY') {
    assert(hold, 'what was compared has a hold');
    throw otherCurrency(hold);
  }
  if (outcome === 'LATE') throw tooLate();
  if (outcome === 'RESUMED' || outcome === 'REPEATED') {
    const isKnown = await wasMadeByCall(core, call, merchantId);
    return isKnown && outcome === 'RESUMED' ? undefined : { requestId: call.requestId, replayed: false };
  }
  return findFirstOfKey(core, { ...call, merchantId }, () => refusalOfStored(call, { ...stored, outcome }), agrees);
}

function refusalOfStored({ claim: { method } }: Call, { outcome, hold, left, exceeded }: NotStored): HoldfastError {
  if (outcome === 'MAYBE_LOST') return reconciling();
  if (outcome === 'NOT_SUPPORTED' && method === 'CAPTURE') return capturedOnce();
  if (outcome === 'NOT_SUPPORTED' && method === 'RELEASE') return notReleasedInPart();
  if (outcome === 'HOLD_RELEASED' && method === 'HOLD') return renewedAlready();
  if (outcome === 'HOLD_FROZEN' && hold) return frozenHold(hold);
  if (outcome === 'AMOUNT_EXCEEDS_HOLD' && hold) return exceedsHold(hold);
  if (outcome === 'AMOUNT_EXCEEDS_CAPTURE' && hold) return exceedsCapture(left ?? 0n, hold);
  if (outcome === 'LIMIT_EXCEEDED' && exceeded) return exceedsLimit(exceeded);
  return refusalOf(outcome === 'KEY_TAKEN' ? 'CAPTURE_IN_FLIGHT' : outcome);
}

interface NotStored extends Pick<Stored, 'hold' | 'left' | 'exceeded'> {
  readonly outcome: RefusalCode | 'KEY_TAKEN' | 'MAYBE_LOST';
}

/** False = not readable now; the operation stored under the requestId may be this call's or not. */
async function wasMadeByCall(core: Core, call: Call, merchantId: string | undefined): Promise<boolean> {
  try {
    return await isRepeated(core, call, merchantId);
  } catch (error) {
    demandRefusal(core, call.requestId, error);
    return false;
  }
}

/** The same for a call that is refused before it is stored. Throws the refusal when there is no such operation. */
export async function findFirstUnstored(
  core: Core,
  call: Call,
  refuse: () => HoldfastError,
  agrees: (requestId: string) => Promise<boolean>,
): Promise<First> {
  if (await isRepeated(core, call)) return { requestId: call.requestId, replayed: false };
  return findFirstOfKey(core, call, refuse, agrees);
}

/** The operation of the call's key. Throws the refusal when there is none, RECONCILING when it may be lost. */
async function findFirstOfKey(
  core: Core,
  call: Call,
  refuse: () => HoldfastError,
  agrees: (requestId: string) => Promise<boolean>,
): Promise<First> {
  const byKey = await findByKey(core, call, agrees);
  if (byKey !== undefined) return { requestId: byKey, replayed: true };
  const since = await reconcilingSince(core.database.query);
  const mayBeLost = since && (call.claim.key !== undefined || drawnAt(call.requestId) < since);
  throw mayBeLost ? reconciling() : refuse();
}

/** Makes the comparison of a call with an earlier submission of its kinds; `isSame` compares field by field. */
export function agreesWith(core: Core, kinds: readonly SubmissionKind[], isSame: (row: SubmissionRow) => boolean) {
  return async (requestId: string): Promise<boolean> => {
    const row = await findSubmission(core.database.query, requestId);
    return row !== undefined && kinds.includes(row.kind) && isSame(row);
  };
}
