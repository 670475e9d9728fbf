/**
 * What an adapter refuses by its own books, of an acquirer that takes one capture of an authorization and says later
 * what became of an operation.
 */
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { endedElsewhere, mismatch, NOT_FOUND, remainingOf, totalOf } from '../authorization.ts';
import { approved, notPerformed } from '../ending.ts';
import { type KeptResult, LARGEST_AMOUNT } from '../entry.ts';
import { type Intent, isOpen, type State } from './entries.ts';

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

/** Returns how an operation ends without the acquirer; undefined when that decides. */
export function judge(about: Case): KeptResult | undefined {
  const { kind } = about.intent;
  return mismatch(about.authorization, about.intent) ?? unplaced(about) ?? JUDGES[kind as keyof typeof JUDGES](about);
}

const JUDGES = {
  capture(about) {
    const { intent, authorization } = about;
    if (authorization.terminalId !== intent.terminalId || authorization.userId !== intent.userId) {
      return notPerformed('authorization_mismatch', 'Terminal or user are not those of the authorization.');
    }
    if (intent.amount > totalOf(authorization)) {
      const message = 'The amount is more than what is left of the authorization.';
      return notPerformed('amount_exceeds_authorization', message);
    }
    return unusable(about);
  },
  void(about) {
    const { authorization } = about;
    return (
      endedElsewhere(authorization) ?? pending(about) ?? (remainingOf(authorization) === 0n ? approved() : undefined)
    );
  },
  increment(about) {
    const { intent, authorization } = about;
    const refusal = unable(about) ?? unusable(about);
    if (refusal || totalOf(authorization) + intent.amount <= LARGEST_AMOUNT) return refusal;
    return notPerformed('amount_too_large', 'The authorization would become too large.');
  },
  extension: (about) => unable(about) ?? unusable(about),
  refund({ intent, authorization, entries }) {
    const capture = entries.find(({ requestId }) => requestId === intent.captureRequestId);
    if (capture?.kind !== 'capture' || capture.answer !== Answer.APPROVED) {
      return notPerformed('capture_not_found', 'There is no such capture of this authorization.');
    }
    const open = entries.filter((entry) => entry.kind === 'refund' && isOpen(entry));
    const held = open.reduce((sum, { amount }) => sum + amount, 0n);
    const left = authorization.captured - authorization.refunded - authorization.reversed - held;
    if (intent.amount <= left) return undefined;
    return notPerformed('amount_exceeds_capture', 'The amount is more than what is left of the capture.');
  },
} as const satisfies Record<string, Judge>;

function unplaced({ intent, authorization }: Case): KeptResult | undefined {
  if (authorization.answer === Answer.APPROVED) return undefined;
  if (isOpen(authorization)) return notPerformed('authorization_not_ended', 'The authorization has no result yet.');
  if (intent.kind !== 'void') return NOT_FOUND;
  return notPerformed('authorization_not_approved', 'The authorization was refused: nothing is reserved.');
}

/** Why nothing can be taken from, or added to, an authorization, or undefined. */
function unusable(about: Case): KeptResult | undefined {
  const { authorization, entries, now } = about;
  const extended = entries.filter(({ kind, answer }) => kind === 'extension' && answer === Answer.APPROVED);
  const endMs = Math.max(...[authorization, ...extended].map(({ expiresAt }) => expiresAt?.getTime() ?? 0));
  const refusal = endedElsewhere(authorization) ?? pending(about);
  if (refusal) return refusal;
  if (remainingOf(authorization) === 0n) {
    return notPerformed('authorization_closed', 'Nothing is left of the authorization.');
  }
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
