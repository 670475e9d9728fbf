/** The life of an operation (domain/outcome.ts): every one is stored, sent and settled here. */
import { drawId } from '../../../platform/draw-id.ts';
import type { StoreRequest } from '../books/books.ts';
import { type Facts, factsOf, isCheckout } from '../books/facts.ts';
import { isStored, type Stored } from '../books/submission-request.ts';
import type { WrittenSubmission } from '../books/written.ts';
import { BY_ANSWER, type Told } from '../domain/contradiction.ts';
import { pointOf } from '../domain/crash-points.ts';
import { mustHappen } from '../domain/kinds.ts';
import { type FinalOutcome, isFinal, isOk, type Outcome } from '../domain/outcome.ts';
import type { HoldRow, WrittenHold } from '../storage/hold/hold-row.ts';
import type { KnownHold } from '../storage/hold/read-holds.ts';
import { postponeInquiry } from '../storage/submission/open-submissions.ts';
import { hasLateVoid } from '../storage/submission/read-submissions.ts';
import { logContradiction } from './contradict.ts';
import {
  aboutOf,
  compareWithResult,
  contradictAmount,
  isOfOtherAmount,
  isSentAgain,
  leaveUnknown,
  type NotCountedOn,
  readOutcome,
  review,
} from './judge-outcome.ts';
import { openPage, storePage } from './page.ts';
import { send } from './send-to-processor.ts';
import type { Sender } from './sender.ts';

/**
 * The effect of an outcome. SETTLED: it ended the operation. OPENED: a page waits for the customer of the hold.
 * Otherwise nothing, because it is still UNKNOWN, another one has settled it before (OVERTAKEN), or an operator must
 * decide (IN_REVIEW).
 */
export type Settlement = SettledNow | Opened | { readonly is: 'UNKNOWN' | 'OVERTAKEN' | 'IN_REVIEW' };

/** The rows are as they are written now; `before` is the submission's hold, right before. */
export interface SettledNow {
  readonly is: 'SETTLED';
  readonly outcome: FinalOutcome;
  readonly submission?: WrittenSubmission | undefined;
  readonly before?: KnownHold | undefined;
  readonly hold?: WrittenHold | undefined;
}

interface Opened {
  readonly is: 'OPENED';
  readonly hold: HoldRow;
}

/** The result of a request. */
export type Performed = Settlement | { readonly is: 'NOT_STORED'; readonly stored: Stored };

/** The exceptions to the usual course of a request. */
export interface Course {
  /** The outcome at the processor, when it is known already: nothing is sent. */
  readonly known?: { readonly outcome: Outcome; readonly told: Told; readonly at: Date } | undefined;
  /** Returns whether the result of storing is a new operation, which is sent. */
  readonly isNew?: ((stored: Stored) => Promise<boolean>) | undefined;
  /** Waits for a turn to send; undefined = none is free, and recovery goes on. */
  readonly inTurn?: ((send: () => Promise<Performed>) => Promise<Performed> | undefined) | undefined;
}

/** Stores a request, sends it, and settles it by the outcome. Rejects as Books says when it may not be stored. */
export async function perform(sender: Sender, request: StoreRequest, course: Course = {}): Promise<Performed> {
  const { known, isNew = async (stored: Stored) => isStored(stored), inTurn = (goOn) => goOn() } = course;
  const stored = await sender.books.store(request);
  if (!(await isNew(stored))) return { is: 'NOT_STORED', stored };
  const goOn = async () => {
    const facts = stored.facts ?? (await factsOf(sender.database.query, request.kind, request.requestId));
    if (!known) return finish(sender, facts);
    return settle({ ...sender, clock: () => known.at }, facts, known.outcome, known.told);
  };
  return (await inTurn(goOn)) ?? { is: 'UNKNOWN' };
}

/** Sends a stored operation, and settles it by the outcome. */
export async function finish(sender: Sender, facts: Facts): Promise<Exclude<Performed, { is: 'NOT_STORED' }>> {
  if (!isCheckout(facts)) return settle(sender, facts, await send(sender, facts));
  sender.reach(pointOf('HOLD', 'stored'));
  const page = await openPage(sender, facts);
  if (page && 'refusal' in page) return settle(sender, facts, page.refusal);
  if (page) return { is: 'OPENED', hold: page };
  await postponeInquiry(sender.database.query, 'HOLD', facts.requestId, sender.clock());
  return { is: 'UNKNOWN' };
}

/**
 * Settles an operation by its outcome, whenever that comes. The first final result stays: a later contradicting one
 * changes nothing, but freezes the hold and raises an alert. Another amount than was asked for is never booked: an
 * operator decides. A refusal of an operation that must happen needs an operator, too, unless the request never
 * arrived: then it is sent again under a new identifier, a few times. Without a final outcome the operation stays
 * unknown, and recovery inquires.
 */
export async function settle(
  sender: Sender,
  facts: Facts,
  outcome: Outcome,
  told: Told = BY_ANSWER,
): Promise<Settlement> {
  if (!isFinal(outcome)) {
    const hold = await waitForCustomer(sender, facts, outcome);
    if (hold) return { is: 'OPENED', hold };
    await leaveUnknown(sender, facts, outcome);
    return { is: 'UNKNOWN' };
  }
  const final = readOutcome(facts.kind, outcome);
  if (isOfOtherAmount(facts, final)) {
    await contradictAmount(sender, facts, final, told);
    if (await review(sender, facts, 'other_amount')) return { is: 'IN_REVIEW' };
  } else if (mustHappen(facts.kind) && !isOk(final) && !(await isSentAgain(sender, facts, final))) {
    if (await review(sender, facts, final.code)) return { is: 'IN_REVIEW' };
  } else {
    const settled = await settleFinal(sender, facts, final, told);
    if (settled) return settled;
  }
  const late = await compareWithResult(sender, facts, final, told);
  if (late) {
    sender.log.warn('late_authorization', { requestId: facts.requestId });
    await voidAuthorization(sender, late);
  }
  return { is: 'OVERTAKEN' };
}

/** The hold whose customer is asked on a page; undefined = the outcome names none, or the hold has its result. */
async function waitForCustomer(sender: Sender, facts: Facts, outcome: Outcome): Promise<HoldRow | undefined> {
  if (facts.kind !== 'HOLD' || outcome.answer !== 'ACCEPTED' || !outcome.page) return undefined;
  return storePage(sender, facts, outcome.page);
}

/** Settles by a final outcome. Undefined = the operation was settled before. */
export async function settleFinal(
  sender: Sender,
  facts: Facts,
  outcome: FinalOutcome,
  told: Told = BY_ANSWER,
): Promise<SettledNow | undefined> {
  // Stored before this one ends: nobody looks at a void that has ended. An expiry is sent again by the expiry sweep.
  const isLost = !isOk(outcome) && outcome.code === 'never_received';
  if (isLost && facts.kind === 'LATE_VOID' && facts.hold) {
    const { hold, authorizationId, requestId } = facts;
    await voidAuthorization(sender, { hold, authorization: authorizationId ?? hold.requestId }, requestId);
  }
  const settled = await sender.books.settle({ facts, outcome, at: sender.clock(), told });
  if (!settled.changed) return undefined;
  const { submission, before, hold, contradicts } = settled;
  if (contradicts) logContradiction(sender.log, aboutOf(facts), contradicts, told);
  return { is: 'SETTLED', outcome, submission, before, hold };
}

/**
 * Sees to it that an authorization that its hold does not count on is given back, once; recovery sends the void. `lost`
 * is a void that never arrived.
 */
async function voidAuthorization(
  { database, books, clock }: Sender,
  { hold: { requestId: holdRequestId, idHash }, authorization }: NotCountedOn,
  lost?: string,
): Promise<void> {
  if (await hasLateVoid(database.query, { holdRequestId, authorization, lost })) return;
  const at = clock();
  await books.store({ kind: 'LATE_VOID', requestId: drawId(), idHash, authorization, at, inquireAt: at });
}

/**
 * Sees to it that the authorization that a renewal has left is given back: the one before, or a new one that came too
 * late. The statement that stores the void takes the hold's mark away, so it is stored once; recovery sends it.
 */
export async function voidReplaced(
  { books, clock }: Sender,
  { idHash, toVoid: authorization }: { readonly idHash: Buffer; readonly toVoid: string },
): Promise<void> {
  const at = clock();
  const what = { authorization, replaced: true, at, inquireAt: at };
  await books.store({ kind: 'LATE_VOID', requestId: drawId(), idHash, ...what });
}
