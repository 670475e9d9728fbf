import { v7 as uuidv7 } from 'uuid';
import { BY_ANSWER, differs, type Told } from '../domain/contradiction.ts';
import type { HoldBooks } from '../domain/hold-rules.ts';
import { mustHappen, type SentKind } from '../domain/kinds.ts';
import { type Approved, type FinalOutcome, isFinal, isOk, type Outcome } from '../domain/outcome.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { findResult } from '../storage/operation/operation-row.ts';
import { findSent } from '../storage/submission/find-sent.ts';
import { markNeedsReview, markUnknown } from '../storage/submission/open-submissions.ts';
import { countLost, hasLateVoid } from '../storage/submission/read-submissions.ts';
import { contradict, logContradiction } from './contradict.ts';
import type { Facts, Sender } from './facts.ts';

/**
 * What an outcome did: it SETTLED what was sent; or nothing, because it is UNKNOWN yet, another one had settled it
 * before (OVERTAKEN), or an operator must decide (IN_REVIEW).
 */
export type Settlement = Settled | { readonly is: 'UNKNOWN' | 'OVERTAKEN' | 'IN_REVIEW' };

interface Settled {
  readonly is: 'SETTLED';
  readonly at: Date;
  readonly books?: HoldBooks | undefined;
}

/**
 * Settles what was sent by its outcome, whenever that came. The first final result stays; a later one that contradicts
 * it changes nothing but freezes the hold and alerts. What was done for another amount than was asked for is not booked
 * as if it were: an operator decides. A refusal of what must happen needs an operator, except when the
 * request never arrived: then it is sent again under a new identifier, a few times. What has no final outcome stays
 * unknown, and recovery inquires.
 */
export async function settle(
  sender: Sender,
  facts: Facts,
  outcome: Outcome,
  told: Told = BY_ANSWER,
): Promise<Settlement> {
  if (!isFinal(outcome)) return leaveUnknown(sender, facts, outcome);
  const final = readOutcome(facts.kind, outcome);
  if (isOfOtherAmount(facts, final)) {
    await contradictAmount(sender, facts, final, told);
    if (await review(sender, facts, 'other_amount')) return { is: 'IN_REVIEW' };
    await cameLate(sender, facts, final, told);
    return { is: 'OVERTAKEN' };
  }
  if (mustHappen(facts.kind) && !isOk(final) && !(await isSentAgain(sender, facts, final))) {
    if (await review(sender, facts, final.code)) return { is: 'IN_REVIEW' };
  } else {
    const settled = await settleFinal(sender, facts, final, told);
    if (settled) return settled;
  }
  await cameLate(sender, facts, final, told);
  return { is: 'OVERTAKEN' };
}

/** Whether the processor has done something, but for another amount than was asked for. */
export function isOfOtherAmount({ kind, amount }: Pick<Facts, 'kind' | 'amount'>, outcome: FinalOutcome): boolean {
  if (!isOk(outcome) || !WITH_AMOUNT.has(kind)) return false;
  return differs(outcome.amount, { least: amount, most: amount }) !== undefined;
}

/** A void or extension asks for no amount. */
const WITH_AMOUNT: ReadonlySet<SentKind> = new Set(['HOLD', 'CAPTURE', 'INCREMENT', 'REFUND', 'OCT']);

/** A hold that is not placed yet needs no freezing: an operator decides about it as a whole. */
async function contradictAmount(sender: Sender, facts: Facts, outcome: FinalOutcome, told: Told): Promise<void> {
  const { kind, amount: keptAmount } = facts;
  const toldAmount = isOk(outcome) ? outcome.amount : undefined;
  const reference = isOk(outcome) ? outcome.reference : undefined;
  const freezes = kind === 'HOLD' ? undefined : kind === 'CAPTURE' ? 'UNKNOWN_CHARGE' : 'AMOUNT_DIFFERS';
  const said = { kind: 'AMOUNT', told: 'APPROVED', kept: 'ASKED', toldAmount, keptAmount, reference, freezes } as const;
  await contradict(sender, aboutOf(facts), said, told);
}

/** What a contradiction about something that was sent is about. */
function aboutOf(facts: Facts) {
  const { kind, requestId, merchantId, processor, currency } = facts;
  const holdRequestId = kind === 'HOLD' ? requestId : facts.hold?.requestId;
  return { requestId, holdRequestId, merchantId, processor, currency };
}

/** Whether a void that was refused is sent again: it never arrived, and few before it did not either. */
async function isSentAgain({ database }: Sender, facts: Facts, { code }: Exclude<FinalOutcome, Approved>) {
  if (code !== 'never_received' || facts.kind === 'HOLD') return false;
  return (await countLost(database.query, facts.holdRequestId, facts.kind)) < MOST_LOST;
}

/** How often something is sent again at most because it never arrived. */
export const MOST_LOST = 3;

/** Settles by a final outcome. Undefined = what was sent had been settled before. */
export async function settleFinal(
  sender: Sender,
  facts: Facts,
  outcome: FinalOutcome,
  told: Told = BY_ANSWER,
): Promise<Settled | undefined> {
  const { books, log } = sender;
  const at = sender.clock();
  if (facts.kind === 'HOLD') {
    const { changed } = await books.settleHold({ hold: facts, outcome, at, imported: facts.imported });
    return changed ? { is: 'SETTLED', at } : undefined;
  }
  const { hold, requestId } = facts;
  // Stored before this one ends: nobody looks at a void that has ended. An expiry is sent again by the expiry sweep.
  const isLost = !isOk(outcome) && outcome.code === 'never_received';
  if (isLost && facts.kind === 'LATE_VOID' && hold) await voidLate(sender, hold, requestId);
  const settled = await books.settle({
    submission: facts,
    holdKey: hold?.idHash.toString('hex'),
    outcome,
    at,
    imported: facts.imported,
    told,
  });
  if (!settled.changed) return undefined;
  if (settled.contradicts) logContradiction(log, aboutOf(facts), settled.contradicts, told);
  return { is: 'SETTLED', at, books: settled.books };
}

async function leaveUnknown(
  { database, clock, processors }: Sender,
  facts: Facts,
  outcome: Outcome,
): Promise<Settlement> {
  const { kind, requestId } = facts;
  const now = clock();
  const said = outcome.answer === 'ACCEPTED' ? outcome.expectedBy : undefined;
  const expectedBy = said && (await processors.of(facts).acceptedUntil(kind, now, said));
  const soon = new Date(now.getTime() + FIRST_INQUIRY_MS);
  await markUnknown(database.query, kind, requestId, nextLook(now, expectedBy) ?? soon, expectedBy);
  return { is: 'UNKNOWN' };
}

const FIRST_INQUIRY_MS = 1_000;

/**
 * When to inquire about what the processor has accepted: events may get lost, so now and then while it is at work, and
 * when it should have ended. Undefined = it should have ended already, or the processor did not say when.
 */
export function nextLook(now: Date, expectedBy: Date | undefined): Date | undefined {
  if (expectedBy === undefined || expectedBy <= now) return undefined;
  return new Date(Math.min(expectedBy.getTime(), now.getTime() + ACCEPTED_INQUIRY_MS));
}

const ACCEPTED_INQUIRY_MS = 3_600_000;

/** What an outcome comes to: a void that must happen is done when nothing is left to give back. */
function readOutcome(kind: SentKind, outcome: FinalOutcome): FinalOutcome {
  const isNothingLeft = !isOk(outcome) && NOTHING_LEFT.has(outcome.code);
  return isNothingLeft && mustHappen(kind) ? DONE : outcome;
}

const DONE = { answer: 'APPROVED', reference: '', bankReference: '' } as const;

/**
 * Error codes of VoidResponse (proto/holdfast/processor/v1) that say that nothing is left to give back: as good as
 * done.
 */
const NOTHING_LEFT: ReadonlySet<string> = new Set([
  'authorization_expired',
  'authorization_not_found',
  'authorization_not_approved',
  'authorization_voided',
  'authorization_closed',
]);

async function review({ database, log }: Sender, facts: Facts, processorCode: string): Promise<boolean> {
  const { kind, requestId, processor } = facts;
  const isOpen = await markNeedsReview(database.query, kind, requestId);
  if (isOpen) log.error('needs_review', { kind, requestId, processor, processorCode });
  return isOpen;
}

async function cameLate(sender: Sender, facts: Facts, outcome: FinalOutcome, told: Told): Promise<void> {
  const { requestId } = facts;
  const { query } = sender.database;
  const hold = facts.kind === 'HOLD' ? await findHold(query, requestId) : facts.hold;
  if (facts.kind === 'HOLD' && hold?.phase === 'FAILED') {
    // Nobody counts on the authorization of a hold that has failed: it is given back.
    if (isOk(outcome)) await voidLate(sender, hold);
    return;
  }
  // What has no result of its own contradicts nothing. One that was corrected is compared as it is now.
  const first = await findResult(query, requestId);
  if (!first) return;
  const kept = (await findSent(query, requestId))?.state ?? first.status;
  if ((kept === 'OK') === isOk(outcome)) return;
  // A capture that was told as failed and was done is charged, and not in the books.
  const isCharge = facts.kind === 'CAPTURE' && isOk(outcome);
  const amounts = isOk(outcome) ? { toldAmount: outcome.amount ?? facts.amount, reference: outcome.reference } : {};
  const said = {
    kind: 'RESULT',
    told: outcome.answer,
    kept,
    ...amounts,
    keptAmount: kept === 'OK' ? first.amount : undefined,
    freezes: isCharge ? 'UNKNOWN_CHARGE' : 'RESULT_CONTRADICTED',
  } as const;
  await contradict(sender, aboutOf(facts), said, told);
}

/**
 * Sees to it that the authorization of a failed hold is given back, once; recovery sends the void. `lost` is a void
 * that never arrived.
 */
async function voidLate({ database, books, clock, log }: Sender, hold: HoldRow, lost?: string): Promise<void> {
  const { requestId: holdRequestId, idHash } = hold;
  if (await hasLateVoid(database.query, holdRequestId, lost)) return;
  const at = clock();
  await books.store({ kind: 'LATE_VOID', requestId: uuidv7(), idHash, at, inquireAt: at });
  log.warn('late_authorization', { requestId: holdRequestId });
}
