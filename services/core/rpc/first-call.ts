/** The operation of an earlier call under the same name: the stored rows decide the answer, always the same one. */

import assert from 'node:assert/strict';
import { drawnAt } from '../../../platform/draw-id.ts';
import { type Stored, type Words, wordsOf } from '../books/submission-request.ts';
import type { SubmissionKind } from '../domain/kinds.ts';
import type { HoldfastError } from '../domain/refusal.ts';
import { reconcilingSince } from '../storage/reconciling.ts';
import { findSubmission } from '../storage/submission/read-submissions.ts';
import { restoreWords } from '../storage/submission/restore-words.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import { demandRefusal, type First } from './answer-stored.ts';
import type { Core } from './core.ts';
import { type Call, findByKey, isRepeated } from './idempotency.ts';
import {
  capturedOnce,
  exceedsCapture,
  exceedsHold,
  frozenHold,
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
  const byKey = await findByKey(core, { ...call, merchantId }, agrees);
  if (byKey !== undefined) return { requestId: byKey, replayed: true };
  if (outcome === 'MAYBE_LOST' || (await mayBeLost(core, call))) throw reconciling();
  if (outcome === 'NOT_SUPPORTED' && call.claim.method === 'CAPTURE') throw capturedOnce();
  if (outcome === 'HOLD_RELEASED' && call.claim.method === 'HOLD') throw renewedAlready();
  if (outcome === 'HOLD_FROZEN' && hold) throw frozenHold(hold);
  if (outcome === 'AMOUNT_EXCEEDS_HOLD' && hold) throw exceedsHold(hold);
  if (outcome === 'AMOUNT_EXCEEDS_CAPTURE' && hold) throw exceedsCapture(stored.left ?? 0n, hold);
  throw refusalOf(outcome === 'KEY_TAKEN' ? 'CAPTURE_IN_FLIGHT' : outcome);
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
  const byKey = await findByKey(core, call, agrees);
  if (byKey !== undefined) return { requestId: byKey, replayed: true };
  throw (await mayBeLost(core, call)) ? reconciling() : refuse();
}

/** Returns whether a call may repeat one that the database has lost. */
async function mayBeLost(core: Core, { requestId, claim }: Call): Promise<boolean> {
  const since = await reconcilingSince(core.database.query);
  return since !== undefined && (claim.key !== undefined || drawnAt(requestId) < since);
}

/**
 * Makes the comparison of a call with an earlier submission of the same kind; `isSame` compares field by field. What the
 * merchant said of an imported one is lost, where the processor's books lack it, and is now what the call says.
 */
export function agreesWith(
  core: Core,
  { kind, ...said }: Partial<Words> & { readonly kind: SubmissionKind },
  isSame: (row: SubmissionRow) => boolean,
) {
  const { query } = core.database;
  return async (requestId: string): Promise<boolean> => {
    const row = await findSubmission(query, requestId);
    if (row?.kind !== kind || !isSame(row)) return false;
    await restoreWords(query, requestId, wordsOf(said));
    return true;
  };
}
