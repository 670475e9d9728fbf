/** What all calls that make an operation have in common: what is stored decides the answer, always the same one. */
import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import type { HandlerContext } from '@connectrpc/connect';
import { ResultLost } from '../../../platform/gather.ts';
import { errorFields } from '../../../platform/log.ts';
import { type Stored, type Words, wordsOf } from '../books/submission-request.ts';
import type { SubmissionKind } from '../domain/kinds.ts';
import { isFinal, isOk } from '../domain/outcome.ts';
import { HoldfastError } from '../domain/refusal.ts';
import type { Facts } from '../kinds/facts.ts';
import { send } from '../kinds/send-to-processor.ts';
import { settle } from '../kinds/settle-outcome.ts';
import { callOverAt } from '../processor/processor.ts';
import { ID_AGE_MS } from '../storage/id-bounds.ts';
import { reconcilingSince } from '../storage/reconciling.ts';
import { findSubmission } from '../storage/submission/read-submissions.ts';
import { restoreWords } from '../storage/submission/restore-words.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import type { Core } from './core.ts';
import { type Call, findByKey, isRepeated } from './idempotency.ts';
import { drawnAt } from './ids.ts';
import {
  capturedOnce,
  exceedsCapture,
  exceedsHold,
  frozenHold,
  invalidField,
  keptRefusal,
  otherCurrency,
  outcomeUnknown,
  processorRefusal,
  reconciling,
  refusalOf,
  renewedAlready,
  tooLate,
} from './refuse.ts';
import { patienceKey } from './server/call-patience.ts';

/** What every request says: its name, the caller's or a new one, when it was made, and how long it is wanted. */
export function requestOf(
  core: Core,
  request: { readonly operationRequestId?: string | undefined },
  context: HandlerContext,
) {
  const at = core.clock();
  const requestId = request.operationRequestId ?? randomUUIDv7();
  return { requestId, at, inquireAt: callOverAt(core.processors, at), patience: context.values.get(patienceKey) };
}

/**
 * The refusal of a new operation whose requestId was not drawn about now; undefined = it was, or core drew it. Lists by
 * time find operations by when their requestId was drawn. A repetition of a call is not refused, however late it is.
 */
export function refuseStrayId({ operationRequestId }: { readonly operationRequestId?: string | undefined }) {
  if (operationRequestId === undefined) return undefined;
  // Callers draw by the machine's clock, which no test replaces.
  const aheadMs = drawnAt(operationRequestId).getTime() - Date.now();
  if (aheadMs <= ID_AHEAD_MS && aheadMs >= -ID_AGE_MS) return undefined;
  return invalidField(
    'operation_request_id',
    "was drawn more than 24 hours ago, or 10 minutes in the future, by this core's clock: draw another, or set the clock",
  );
}

const ID_AHEAD_MS = 10 * 60_000;

/**
 * Waits until a request is stored; LOST = it may be, or may not. Then its requestId names the operation, unless the
 * call has an idempotency key: under that another call may have made it, with a requestId of its own, so a keyed call
 * ends with OUTCOME_UNKNOWN. Rejects as Books says besides.
 */
export async function storedOrLost({ claim }: Pick<Call, 'claim'>, storing: Promise<Stored>): Promise<Stored | 'LOST'> {
  try {
    return await storing;
  } catch (error) {
    if (!(error instanceof ResultLost)) throw error;
    if (claim.key !== undefined) throw outcomeUnknown(error);
    return 'LOST';
  }
}

/** An operation that was stored before; replayed = it is found by its idempotency key. */
export interface First {
  readonly requestId: string;
  readonly replayed: boolean;
}

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

/** False = that cannot be read now; what is stored under the requestId may be this call's or not. */
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

/** Whether a call may repeat one that the database has lost. */
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

/** The refusal of a new operation while its processor does not answer, or too many wait for it. */
export function processorAway({ metrics }: Core, processor: string): HoldfastError {
  metrics.processorRefused(processor);
  const message = 'the card processor does not answer, or too many calls wait for it; nothing was stored';
  return new HoldfastError('UNAVAILABLE', message, { retryAfterS: 2 });
}

/** Throws a stored operation's refusal when it is KO, IDEMPOTENCY_IN_FLIGHT while its first call runs. */
export async function demandAnswerable(
  core: Core,
  first: First,
  row: Pick<SubmissionRow, 'state' | 'inquireAt' | 'inquiryCount' | 'processorCode' | 'processorMessage'> &
    Partial<Pick<SubmissionRow, 'kind'>>,
): Promise<void> {
  if (row.state === 'KO') throw await keptRefusal(core, first, row);
  // It started, and recovery has not looked at it yet.
  const isRunning = row.inquiryCount === 0 && row.inquireAt != null && row.inquireAt > core.clock();
  if (row.state !== 'PENDING' || !isRunning) return;
  const message = 'the first call has no result yet; repeat it';
  throw new HoldfastError('IDEMPOTENCY_IN_FLIGHT', message, { requestId: first.requestId, retryAfterS: 1 });
}

/** What a call answers about its operation. */
export interface Answer<A> {
  /** When it is done. */
  readonly present: (row: SubmissionRow) => A | Promise<A>;
  /** While its outcome is not known. */
  readonly unknown: (requestId: string) => A;
}

/** The answer from what was written once, whatever came back of it or was corrected since. */
export async function answerStored<A extends object>(
  core: Core,
  first: First,
  { present, unknown }: Answer<A>,
): Promise<A & { replayed?: boolean }> {
  const { requestId, replayed } = first;
  try {
    const stored = await findSubmission(core.database.query, requestId);
    assert(stored, 'what is answered was stored');
    const row = asFirstEnded(stored);
    await demandAnswerable(core, first, row);
    return { ...(row.state === 'OK' ? await present(row) : unknown(requestId)), replayed };
  } catch (error) {
    demandRefusal(core, requestId, error);
    return unknown(requestId);
  }
}

/** A submission as it was when it had ended for the first time. */
function asFirstEnded(row: SubmissionRow): SubmissionRow {
  const untouched = row.kind === 'CAPTURE' ? { amountReversed: 0n, amountRefunded: 0n, amountRefunding: 0n } : {};
  return { ...row, ...untouched, state: row.firstState ?? row.state, amountReturned: 0n };
}

/** Sends what was stored, and settles it. Throws the refusal of the processor, when that has just ended it. */
export async function sendAndSettle(core: Core, facts: Facts) {
  const outcome = await send(core, facts);
  const settled = await settle(core, facts, outcome);
  if (settled.is !== 'SETTLED') return settled;
  assert(isFinal(outcome), 'only a final outcome settles');
  if (!isOk(outcome)) throw processorRefusal(facts, outcome);
  return { ...settled, outcome };
}

/**
 * Once an operation is stored, only its own result is an error: whatever else goes wrong, the processor may have
 * performed it, and recovery finds out. Throws the error when it is that result, and otherwise logs it: the answer is
 * that the outcome is not known.
 */
export function demandOwnResult(core: Core, requestId: string, error: unknown): void {
  if (error instanceof HoldfastError && error.details.requestId === requestId) throw error;
  core.log.error('result_not_stored', { requestId, ...errorFields(error) });
}

/** The same for an operation that was stored before: throws every refusal. */
export function demandRefusal(core: Core, requestId: string, error: unknown): void {
  if (error instanceof HoldfastError) throw error;
  demandOwnResult(core, requestId, error);
}
