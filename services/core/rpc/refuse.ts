import type { Violation } from '../../../platform/violations.ts';
import { type Freezing, frozenBecauseOf } from '../domain/contradiction.ts';
import { isOtherCurrency } from '../domain/hold-rules.ts';
import type { SentKind } from '../domain/kinds.ts';
import { type Declined, IDENTIFIER_REUSED, type NotPerformed } from '../domain/outcome.ts';
import { HoldfastError, type RefusalCode, type RefusalDetails } from '../domain/refusal.ts';
import { findResult } from '../storage/operation/operation-row.ts';
import type { ExceededLimit } from '../storage/submission/store-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import type { Core } from './core.ts';

const WORDS: Partial<Record<RefusalCode, string>> = {
  PREAUTHORIZATION_NOT_FOUND: 'there is no such preauthorization',
  OPERATION_NOT_FOUND: 'there is no such operation',
  AMOUNT_EXCEEDS_HOLD: 'the amount to capture is more than the hold has',
  CAPTURE_NOT_FOUND: 'there is no such capture',
  AMOUNT_EXCEEDS_CAPTURE: 'the amount to refund is more than what is left of the capture',
  CAPTURE_NOT_SETTLED: 'the capture, or a refund of it, has no result yet',
  AMOUNT_TOO_LARGE: 'with the increment, the hold would be more than 999 999 999 999',
  HOLD_NOT_PLACED: 'the hold is not placed',
  HOLD_EXPIRED: 'the period of the hold is over',
  HOLD_RELEASED: 'the hold was released',
  HOLD_CAPTURED: 'the hold was captured and is closed',
  MULTIPLE_CAPTURES_NOT_ALLOWED: 'the contract allows one capture per hold, and there was one',
  NOT_SUPPORTED: 'the card processor cannot do that with this authorization; nothing was done',
  HOLD_FROZEN: 'the card processor contradicted itself about the hold, and an operator decides; nothing was done',
  OPERATION_NOT_FINAL: 'the operation has no result yet',
  OUTCOME_UNCHANGED: 'the operation has that outcome already',
  NOT_CORRECTABLE: 'operations of this kind are not corrected, or what followed this one is in the way',
  OCT_NOT_ALLOWED: 'the contract does not allow payouts',
  LIMIT_EXCEEDED: 'the amount is more than a limit of the contract leaves',
  CAPTURE_IN_FLIGHT: 'another capture, increment, extension, release or renewal of the hold has no result yet',
};

/** The refusal of a call, with the words for its code. */
export function refusalOf(code: RefusalCode, details: RefusalDetails = {}): HoldfastError {
  return new HoldfastError(code, WORDS[code] ?? code, details);
}

/** The refusal of a request on a frozen hold, with the reason of freezing. */
export function frozenHold(hold: Freezing): HoldfastError {
  return refusalOf('HOLD_FROZEN', { frozenBecause: frozenBecauseOf(hold) });
}

/** The refusal of a request that names what does not exist, or is another merchant's. */
export function noSuch(
  record: 'merchant' | 'API key' | 'signing secret' | 'delivery' | 'notification' | 'endpoint' | 'relay sender',
): HoldfastError {
  return new HoldfastError('OPERATION_NOT_FOUND', `there is no such ${record}`);
}

/** The refusal of a renewal of a hold whose last renewal is open. */
export function renewedAlready(): HoldfastError {
  return new HoldfastError('HOLD_RELEASED', 'the hold was renewed already, by one that is open: renew that one');
}

/** The refusal of a capture of more than remains of its hold; it says what remains. */
export function exceedsHold({ remaining, currency }: { readonly remaining: bigint; readonly currency: string }) {
  const left = `${remaining} ${currency} in minor units`;
  const message = `the amount to capture is more than what remains of the hold: ${left}`;
  return new HoldfastError('AMOUNT_EXCEEDS_HOLD', message, { amountRemaining: remaining, currency });
}

/** The refusal of a refund that exceeds its capture, with the refundable amount. */
export function exceedsCapture(left: bigint, { currency }: { readonly currency: string }) {
  const message = `the amount to refund is more than what is left of the capture: ${left} ${currency} in minor units`;
  return new HoldfastError('AMOUNT_EXCEEDS_CAPTURE', message, { amountRemaining: left, currency });
}

/** The refusal of an operation that a limit of the contract leaves no room for. */
export function exceedsLimit({ limit, resetsAt }: ExceededLimit): HoldfastError {
  const message = resetsAt
    ? `the limit of the day leaves no room for it: ${limit} in minor units`
    : `the amount is more than the limit: ${limit} in minor units`;
  return new HoldfastError('LIMIT_EXCEEDED', message, { limit, resetsAt });
}

/** The refusal of a capture that would leave an authorization open that can be captured once. */
export function capturedOnce(): HoldfastError {
  const message = 'this authorization can be captured once: capture all of it, or set final_capture';
  return new HoldfastError('NOT_SUPPORTED', message);
}

/** The refusal of the release of a part where the processor gives none back. */
export function notReleasedInPart(details: RefusalDetails = {}): HoldfastError {
  const message = 'no part of this authorization can be given back: set final_capture on its last capture';
  return new HoldfastError('NOT_SUPPORTED', message, details);
}

/** An amount of an act on a hold, and its field in the request. */
interface SteppedAmount {
  readonly field: string;
  /** Undefined = all that is left. */
  readonly amount: bigint | undefined;
  /** The remaining amount: the request takes all of it. */
  readonly rest?: bigint | undefined;
}

/** The refusal of an amount that the hold's processor takes no part of; undefined = it takes it, or has not said it. */
export function brokenStep(
  { processors }: Pick<Core, 'processors'>,
  hold: { readonly processor: string; readonly currency: string },
  { field, amount, rest }: SteppedAmount,
): HoldfastError | undefined {
  if (amount === undefined || amount === rest) return undefined;
  const { currency } = hold;
  const step = processors.of(hold).stepBroken({ amount, currency });
  if (step === undefined) return undefined;
  const orRest = rest === undefined ? '' : ', or all that is left';
  const why = `the card processor takes no other amount of ${currency}`;
  return invalidField(field, `must be a multiple of ${step}${orRest}: ${why}`);
}

/** The refusal of an invalid request. It names every invalid field; '' = the request as a whole. */
export function invalidRequest(violations: readonly Violation[], cause?: unknown): HoldfastError {
  const fields = violations.map(({ field }) => field || 'request').join(', ');
  return new HoldfastError('INVALID_REQUEST', `the request is not valid: ${fields}`, { violations, cause });
}

/** The refusal of a call that says another currency than the hold's. */
export function otherCurrency({ currency }: { readonly currency: string }): HoldfastError {
  return invalidField('currency', `must be ${currency}, in which the hold is`);
}

/** Throws it. */
export function demandCurrency(hold: { readonly currency: string }, currency: string | undefined): void {
  if (isOtherCurrency(hold, currency)) throw otherCurrency(hold);
}

/** The refusal of a request for one of its fields. */
export function invalidField(field: string, description: string, cause?: unknown): HoldfastError {
  return invalidRequest([{ field, description }], cause);
}

/** An operation that is KO; of a hold's own, or an OCT, the kind need not be known. */
interface Refused {
  readonly requestId: string;
  readonly kind?: SentKind | undefined;
}

/** The refusal that a KO operation answers: what the processor said, and the operation that keeps it. */
export function processorRefusal(
  { requestId, kind }: Refused,
  outcome: Declined | NotPerformed,
  replayed = false,
): HoldfastError {
  const details = { requestId, processorCode: outcome.code, processorMessage: outcome.message, replayed };
  if (outcome.code === IDENTIFIER_REUSED) {
    const message =
      'the card processor has another operation under this idempotency key, with other fields; nothing was done';
    return new HoldfastError('IDEMPOTENCY_KEY_REUSED', message, details);
  }
  if (outcome.answer === 'DECLINED') return new HoldfastError('CARD_DECLINED', 'the card was declined', details);
  if (outcome.code === 'token_invalid') {
    return new HoldfastError('TOKEN_INVALID', 'the processor does not know the card token', details);
  }
  if (outcome.code === 'not_supported') {
    return kind === 'PARTIAL_RELEASE' ? notReleasedInPart(details) : refusalOf('NOT_SUPPORTED', details);
  }
  const ended = kind !== undefined && CHANGES_HOLD.has(kind) ? ENDED.get(outcome.code) : undefined;
  if (ended) return refusalOf(ended, details);
  return new HoldfastError('PROCESSOR_ERROR', 'the processor did not perform the operation', details);
}

/** The processor's codes of a hold that has ended there, before it did here: by the time, or by a void. */
const ENDED: ReadonlyMap<string, RefusalCode> = new Map([
  ['authorization_expired', 'HOLD_EXPIRED'],
  ['authorization_voided', 'HOLD_RELEASED'],
]);
/** Kinds that are refused once the hold has ended. */
const CHANGES_HOLD: ReadonlySet<SentKind> = new Set([
  'CAPTURE',
  'RELEASE',
  'PARTIAL_RELEASE',
  'INCREMENT',
  'EXTENSION',
]);

/**
 * The refusal of an operation that is KO already, made from its row. Only the log knows whether it was declined; once
 * the result is dropped from it, the operation counts as not performed.
 */
export async function keptRefusal(
  core: Core,
  { requestId, replayed }: { readonly requestId: string; readonly replayed: boolean },
  row: Pick<SubmissionRow, 'processorCode' | 'processorMessage'> & Partial<Pick<SubmissionRow, 'kind'>>,
): Promise<HoldfastError> {
  const operation = await findResult(core.database.query, requestId);
  const answer = operation?.statusInfo === 'declined' ? 'DECLINED' : 'NOT_PERFORMED';
  const outcome = { answer, code: row.processorCode ?? '', message: row.processorMessage ?? '' } as const;
  return processorRefusal({ requestId, kind: row.kind }, outcome, replayed);
}

/** The refusal of a request above its limit for each merchant and minute. */
export function tooMany(now: Date): HoldfastError {
  const retryAfterS = 60 - (Math.floor(now.getTime() / 1_000) % 60);
  return new HoldfastError('RATE_LIMITED', 'the merchant did this too often in this minute', { retryAfterS });
}

/** Refuses a call about something that a restore may have lost, until the database is reconciled. */
export function reconciling(): HoldfastError {
  const message = 'the service is recovering from a restore; retry later';
  return new HoldfastError('RECONCILING', message, { retryAfterS: 30 });
}

/** The refusal of a call that came too late to be stored. */
export function tooLate(): HoldfastError {
  return new HoldfastError('UNAVAILABLE', 'the deadline of the call is over; nothing was stored', { retryAfterS: 1 });
}

/** The answer to a call that may have changed something, or may not. */
export function outcomeUnknown(cause: unknown): HoldfastError {
  return new HoldfastError('OUTCOME_UNKNOWN', 'the database did not say whether this was stored', { cause });
}

/** The refusal of an event that comes before what it is about; the processor reports it again. */
export function noResultYet(what: string): HoldfastError {
  return new HoldfastError('UNAVAILABLE', `${what} has no result yet`, { retryAfterS: 1 });
}
