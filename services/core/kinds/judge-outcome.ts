/** The meaning of outcomes that do not simply end an operation. */
import type { Facts } from '../books/facts.ts';
import { compareAmount, type Told } from '../domain/contradiction.ts';
import { mustHappen, type SentKind } from '../domain/kinds.ts';
import { type Approved, type FinalOutcome, isOk, type Outcome } from '../domain/outcome.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { findResult } from '../storage/operation/operation-row.ts';
import { findSent } from '../storage/submission/find-sent.ts';
import { markNeedsReview, markUnknown } from '../storage/submission/open-submissions.ts';
import { countLost } from '../storage/submission/read-submissions.ts';
import { contradict } from './contradict.ts';
import type { Sender } from './sender.ts';

/** Returns whether the processor has acted, but for another amount than was asked for. */
export function isOfOtherAmount({ kind, amount }: Pick<Facts, 'kind' | 'amount'>, outcome: FinalOutcome): boolean {
  if (!isOk(outcome) || !WITH_AMOUNT.has(kind)) return false;
  return compareAmount(outcome.amount, { least: amount, most: amount }) !== undefined;
}

/** A void or extension asks for no amount. A renewal of another amount is given back. */
const WITH_AMOUNT: ReadonlySet<SentKind> = new Set([
  'HOLD',
  'CAPTURE',
  'PARTIAL_RELEASE',
  'INCREMENT',
  'REFUND',
  'OCT',
]);

/** A hold that is not placed yet needs no freezing: an operator decides about it as a whole. */
export async function contradictAmount(sender: Sender, facts: Facts, outcome: FinalOutcome, told: Told): Promise<void> {
  const { kind, amount: keptAmount } = facts;
  const toldAmount = isOk(outcome) ? outcome.amount : undefined;
  const reference = isOk(outcome) ? outcome.reference : undefined;
  const freezes = kind === 'HOLD' ? undefined : kind === 'CAPTURE' ? 'UNKNOWN_CHARGE' : 'AMOUNT_DIFFERS';
  const said = { kind: 'AMOUNT', told: 'APPROVED', kept: 'ASKED', toldAmount, keptAmount, reference, freezes } as const;
  await contradict(sender, aboutOf(facts), said, told);
}

/** The subject of a contradiction about an operation that was sent. */
export function aboutOf(facts: Facts) {
  const { kind, requestId, merchantId, processor, currency } = facts;
  const holdRequestId = kind === 'HOLD' ? requestId : facts.hold?.requestId;
  return { requestId, holdRequestId, merchantId, processor, currency };
}

/** Returns whether a refused void is sent again: neither it nor the few before it arrived. */
export async function isSentAgain({ database }: Sender, facts: Facts, { code }: Exclude<FinalOutcome, Approved>) {
  if (code !== 'never_received' || facts.kind === 'HOLD') return false;
  return (await countLost(database.query, facts)) < MOST_LOST;
}

/** Number of times that an operation is sent again because it never arrived. */
export const MOST_LOST = 3;

/** Stores that there is no final outcome yet, and when to inquire. */
export async function leaveUnknown(
  { database, clock, processors }: Sender,
  facts: Facts,
  outcome: Outcome,
): Promise<void> {
  const { kind, requestId } = facts;
  const now = clock();
  const said = outcome.answer === 'ACCEPTED' ? outcome.expectedBy : undefined;
  const expectedBy = said && (await processors.of(facts).acceptedUntil(kind, now, said));
  const soon = new Date(now.getTime() + FIRST_INQUIRY_MS);
  await markUnknown(database.query, kind, requestId, nextLook(now, expectedBy) ?? soon, expectedBy);
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

/** Returns the effective outcome: a void that must happen counts as done when nothing is left to give back. */
export function readOutcome(kind: SentKind, outcome: FinalOutcome): FinalOutcome {
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

/** Leaves something to an operator. False = it has ended meanwhile. */
export async function review({ database, log }: Sender, facts: Facts, processorCode: string): Promise<boolean> {
  const { kind, requestId, processor } = facts;
  const isOpen = await markNeedsReview(database.query, kind, requestId);
  if (isOpen) log.error('needs_review', { kind, requestId, processor, processorCode });
  return isOpen;
}

/** An authorization, by the requestId of its hold or RENEWAL, that is to be given back. */
export interface NotCountedOn {
  readonly hold: Pick<HoldRow, 'requestId' | 'idHash'>;
  readonly authorization: string;
}

/**
 * Compares an outcome with the result that was there before, and keeps what it contradicts. Returns the authorization
 * of a hold that has failed, or of a renewal that was not made: nobody counts on it.
 */
export async function compareWithResult(
  sender: Sender,
  facts: Facts,
  outcome: FinalOutcome,
  told: Told,
): Promise<NotCountedOn | undefined> {
  const { requestId } = facts;
  const { query } = sender.database;
  const hold = facts.kind === 'HOLD' ? await findHold(query, requestId) : undefined;
  if (hold?.phase === 'FAILED') return isOk(outcome) ? { hold, authorization: requestId } : undefined;
  if (facts.kind === 'RENEWAL' && facts.hold && (await findSent(query, requestId))?.state === 'KO') {
    return isOk(outcome) ? { hold: facts.hold, authorization: requestId } : undefined;
  }
  // An operation without a result contradicts nothing. A corrected one is compared with its present result.
  const first = await findResult(query, requestId);
  if (!first) return undefined;
  const kept = (await findSent(query, requestId))?.state ?? first.status;
  if ((kept === 'OK') === isOk(outcome)) return undefined;
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
  return undefined;
}
