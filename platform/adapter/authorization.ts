/** What an adapter asks of an authorization before it does anything with it. */
import { AuthorizationEnd } from '../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { approved, notPerformed } from './ending.ts';
import { type KeptResult, LARGEST_AMOUNT } from './entry.ts';
import { doneOf, type Intent, isOpen, type State } from './postgres/entries.ts';

type Sums = Pick<Intent & State, 'amount' | 'incremented' | 'captured' | 'voided'>;

/** What is authorized, increments included, minor units. */
export const totalOf = ({ amount, incremented }: Pick<Sums, 'amount' | 'incremented'>): bigint => amount + incremented;

/** What of an authorization is neither captured nor given back, minor units. */
export const remainingOf = (sums: Sums): bigint => totalOf(sums) - sums.captured - sums.voided;

/** There is no such authorization. */
export const NOT_FOUND = notPerformed('authorization_not_found', 'There is no such authorization.');

const LOST = notPerformed('authorization_lost', 'The ledger of the adapter has lost the authorization.');

/**
 * Why nothing can be done with an authorization that is not in the ledger. When core knows its reference, it was there
 * before the ledger was restored, and its amount may still be reserved.
 */
export function absent({ authorizationReference }: { readonly authorizationReference: string }): KeptResult {
  return authorizationReference === '' ? NOT_FOUND : LOST;
}

export const NOT_APPROVED = notPerformed(
  'authorization_not_approved',
  'The authorization was refused: nothing is reserved.',
);
export const TOO_MUCH = notPerformed(
  'amount_exceeds_authorization',
  'The amount is more than what is left of the authorization.',
);

/** Whose an authorization is, or whose it is said to be. */
type Parties = Pick<Intent, 'merchantId' | 'account' | 'currency'>;

/**
 * Why an operation cannot be about an authorization of these parties, or undefined. What is not said is not compared.
 */
export function mismatch(authorization: Parties, said: Parties): KeptResult | undefined {
  const fields = ['merchantId', 'account', 'currency'] as const;
  if (fields.every((field) => said[field] === '' || said[field] === authorization[field])) return undefined;
  const message = 'Merchant, account or currency are not those of the authorization.';
  return notPerformed('authorization_mismatch', message);
}

type Till = Pick<Intent, 'terminalId' | 'userId'>;

/** That a capture is not of the terminal and the user of its authorization, or undefined. */
export function otherTill(authorization: Till, said: Till): KeptResult | undefined {
  if (authorization.terminalId === said.terminalId && authorization.userId === said.userId) return undefined;
  return notPerformed('authorization_mismatch', 'Terminal or user are not those of the authorization.');
}

/** Why a refund cannot be made, or undefined. `entries`: what was done about the authorization. */
export function refundRefusal(
  refund: Intent,
  authorization: State,
  entries: readonly (Intent & State)[],
): KeptResult | undefined {
  const { amount, captureRequestId } = refund;
  const capture = entries.find(({ requestId }) => requestId === captureRequestId);
  if (capture?.kind !== 'capture' || capture.answer !== Answer.APPROVED) {
    return notPerformed('capture_not_found', 'There is no such capture of this authorization.');
  }
  const open = entries.filter((entry) => entry.kind === 'refund' && isOpen(entry));
  const sumOf = (refunds: typeof open) => refunds.reduce((sum, { amount }) => sum + amount, 0n);
  const ofCapture = sumOf(open.filter((entry) => entry.captureRequestId === captureRequestId));
  const left = doneOf(capture) - capture.refunded - capture.reversed - ofCapture;
  // What was taken back without a known capture limits the captures together.
  const leftOfAll = authorization.captured - authorization.refunded - authorization.reversed - sumOf(open);
  if (amount <= left && amount <= leftOfAll) return undefined;
  return notPerformed('amount_exceeds_capture', 'The amount is more than what is left of the capture.');
}

/** That an authorization was ended by somebody else than core, or undefined. */
export function endedElsewhere(authorization: Pick<State, 'endedAt' | 'endedHow'>): KeptResult | undefined {
  if (authorization.endedAt === null) return undefined;
  return authorization.endedHow === AuthorizationEnd.EXPIRED
    ? notPerformed('authorization_expired', 'The authorization has ended.')
    : notPerformed('authorization_voided', 'The authorization was cancelled at the processor.');
}

/** What is judged: what is asked, the authorization, and what was done about it. */
interface Case {
  readonly intent: Intent;
  readonly authorization: Intent & State;
  readonly entries: readonly (Intent & State)[];
  /** Whether authorizations can be incremented and extended. */
  readonly adjustments: boolean;
  readonly now: Date;
}

type Judge = (about: Case) => KeptResult | undefined;

/**
 * Returns how an operation ends by the adapter's own books, of an acquirer that takes one capture of an authorization
 * and says later what became of an operation; undefined when the acquirer decides.
 */
export function judge(about: Case): KeptResult | undefined {
  const { kind } = about.intent;
  return mismatch(about.authorization, about.intent) ?? unplaced(about) ?? JUDGES[kind as keyof typeof JUDGES](about);
}

const JUDGES = {
  capture(about) {
    const { intent, authorization } = about;
    const exceeds = (most: bigint) => (intent.amount > most ? TOO_MUCH : undefined);
    const refusal = otherTill(authorization, intent) ?? exceeds(totalOf(authorization)) ?? unusable(about);
    return refusal ?? exceeds(remainingOf(authorization));
  },
  void(about) {
    const { authorization } = about;
    const nothingLeft = remainingOf(authorization) === 0n ? approved() : undefined;
    return endedElsewhere(authorization) ?? pending(about) ?? nothingLeft;
  },
  increment(about) {
    const { intent, authorization } = about;
    const refusal = unable(about) ?? unusable(about);
    if (refusal || totalOf(authorization) + intent.amount <= LARGEST_AMOUNT) return refusal;
    return notPerformed('amount_too_large', 'The authorization would become too large.');
  },
  decrease(about) {
    const { intent, authorization } = about;
    const refusal = unable(about) ?? unusable(about);
    return refusal ?? (intent.amount >= remainingOf(authorization) ? TOO_MUCH : undefined);
  },
  extension: (about) => unable(about) ?? unusable(about),
  refund: ({ intent, authorization, entries }) => refundRefusal(intent, authorization, entries),
} as const satisfies Record<string, Judge>;

function unplaced({ intent, authorization }: Case): KeptResult | undefined {
  if (authorization.answer === Answer.APPROVED) return undefined;
  if (isOpen(authorization)) return notPerformed('authorization_not_ended', 'The authorization has no result yet.');
  return intent.kind === 'void' ? NOT_APPROVED : NOT_FOUND;
}

/** Why nothing can be taken from, or added to, an authorization, or undefined. */
function unusable(about: Case): KeptResult | undefined {
  const { authorization, entries, now } = about;
  const refusal = endedElsewhere(authorization) ?? pending(about);
  if (refusal) return refusal;
  if (remainingOf(authorization) === 0n) {
    return notPerformed('authorization_closed', 'Nothing is left of the authorization.');
  }
  const extended = entries.filter(({ kind, answer }) => kind === 'extension' && answer === Answer.APPROVED);
  const endMs = Math.max(...[authorization, ...extended].map(({ expiresAt }) => expiresAt?.getTime() ?? 0));
  return endMs <= now.getTime() ? notPerformed('authorization_expired', 'The authorization has ended.') : undefined;
}

/**
 * An acquirer may do operations in any order, so what depends on the amount is sent after those before it have ended.
 */
function pending({ entries }: Case): KeptResult | undefined {
  if (!entries.some((entry) => entry.kind !== 'refund' && isOpen(entry))) return undefined;
  return notPerformed('operation_pending', 'Another operation on the authorization has no result yet.');
}

function unable({ adjustments }: Case): KeptResult | undefined {
  if (adjustments) return undefined;
  return notPerformed('not_supported', 'The adapter does not authorise so that it can be adjusted.');
}
