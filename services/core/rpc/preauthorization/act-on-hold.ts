import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type {
  ExtendPreauthorizationRequest,
  IncrementPreauthorizationRequest,
  PartiallyReleasePreauthorizationRequest,
  PreauthorizationSchema,
  ReleasePreauthorizationRequest,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { WrittenSubmission } from '../../books/written.ts';
import { isOpen } from '../../domain/hold-rules.ts';
import type { WrittenHold } from '../../storage/hold/hold-row.ts';
import { findHold, type KnownHold } from '../../storage/hold/read-holds.ts';
import type { Core, Method } from '../core.ts';
import { agreesWith } from '../first-call.ts';
import { claimOf } from '../idempotency.ts';
import { brokenStep, demandCurrency } from '../refuse.ts';
import { scopeOfChange } from '../server/caller.ts';
import { demandWords, presentWords, wordsIn } from '../words.ts';
import { answersOf, refuseStrayId, requestOf, write } from '../write.ts';
import { presentHold, withTerms } from './present-hold.ts';
import { demandHandle, namedHold } from './read-preauthorizations.ts';

/** Gives back what remains of a hold, or cancels its open checkout (docs/product.md, "Releases and expiry"). */
export const releasePreauthorization: Method<'releasePreauthorization'> = (core, request, context) =>
  actOnHold(core, request, context, 'RELEASE', request);

/**
 * Gives back a part of a hold (docs/product.md, "Releases and expiry"). A method of its own: a core of 1.0.0 would
 * ignore a field that names the part, and release the whole hold.
 */
export const partiallyReleasePreauthorization: Method<'partiallyReleasePreauthorization'> = (core, request, context) =>
  actOnHold(core, request, context, 'RELEASE', { ...request, amount: request.amountToRelease });

/** Adds to a hold (docs/product.md, "Increments and extensions"). */
export const incrementPreauthorization: Method<'incrementPreauthorization'> = (core, request, context) =>
  actOnHold(core, request, context, 'INCREMENT', { ...request, amount: request.amountToAdd });

/** Lets a hold end later (docs/product.md, "Increments and extensions"). */
export const extendPreauthorization: Method<'extendPreauthorization'> = (core, request, context) =>
  actOnHold(core, request, context, 'EXTENSION', { metadata: {} });

/** The hold right after it; while the outcome is not known, its requestId alone. */
interface Acted extends ReturnType<typeof presentWords> {
  readonly preauthorization: MessageInitShape<typeof PreauthorizationSchema>;
  readonly requestId: string;
  readonly state: OperationState;
  readonly replayed?: boolean;
  readonly amountReleased?: bigint;
}

type Acts = 'RELEASE' | 'PARTIAL_RELEASE' | 'INCREMENT' | 'EXTENSION';

/** The fields of a method's request besides those that name its hold. */
interface Asked {
  /** An increment's, or the part of a release, minor units. */
  readonly amount?: bigint | undefined;
  readonly currency?: string | undefined;
  readonly merchantReference?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly reason?: string | undefined;
}

/**
 * Does what a caller asks of a hold, besides captures: judges and stores it, sends it, settles it. Throws the refusals of its method in the contract.
 */
async function actOnHold(
  core: Core,
  request:
    | ReleasePreauthorizationRequest
    | PartiallyReleasePreauthorizationRequest
    | IncrementPreauthorizationRequest
    | ExtendPreauthorizationRequest,
  context: HandlerContext,
  method: 'RELEASE' | 'INCREMENT' | 'EXTENSION',
  { amount, currency, ...said }: Asked,
): Promise<Acted> {
  const merchantId = scopeOfChange(context, request.merchantId);
  if (method !== 'RELEASE') demandHandle(context, request);
  const hold = await namedHold(core, request, merchantId);
  demandCurrency(hold, currency);
  await demandWords(core, said, () => hold.merchantId);
  const words = wordsIn(said);
  const { requestId: holdRequestId, idHash } = hold;
  const claim = claimOf(request.idempotencyKey, method, { hold: holdRequestId, amount, ...words });
  // A release of all that remains is none of a part; repeated later, it may seem to be one, or the other way around.
  const kinds: readonly Acts[] =
    method === 'RELEASE' && amount !== undefined ? ['RELEASE', 'PARTIAL_RELEASE'] : [method];
  const kind = amount === hold.remaining ? method : (kinds.at(-1) ?? method);
  const call = { ...requestOf(core, request, context), kind, merchantId, claim, idHash, amount, ...words };
  const field = method === 'RELEASE' ? 'amount_to_release' : 'amount_to_add';
  const rest = method === 'RELEASE' ? hold.remaining : undefined;
  const invalid = refuseStrayId(request) ?? brokenStep(core, hold, { field, amount, rest });
  return write(core, {
    call: invalid ? { ...call, merchantId: hold.merchantId } : call,
    request: call,
    refusal: invalid,
    hold,
    agrees: agreesWith(core, kinds, (row) => {
      return row.holdRequestId === holdRequestId && (amount === undefined || row.amount === amount);
    }),
    answers: answersOf<Acted>(core, {
      present: async (row, before) => ({
        ...(await acted(core, row, before)),
        ...(method === 'RELEASE' && amount !== undefined && { amountReleased: row.amountReleased ?? row.amount }),
      }),
      unknown: (requestId) => {
        return { preauthorization: { requestId: holdRequestId }, requestId, state: OperationState.UNKNOWN };
      },
    }),
  });
}

/**
 * The hold right after the submission, whatever has happened since: the first answer. It follows from the hold right
 * before, unless the submission failed or froze it.
 */
async function acted(core: Core, submission: WrittenSubmission, before?: KnownHold): Promise<Acted> {
  const { requestId, holdRequestId, statusAfter, frozenAfter } = submission;
  const follows = before && statusAfter !== 'FAILED' && frozenAfter === before.frozen;
  const hold = follows ? before : await findHold(core.database.query, holdRequestId ?? '');
  assert(hold, 'what is on a hold has one');
  const preauthorization = presentHold(holdAfter(hold, submission), core.cipher);
  return { preauthorization, requestId, state: OperationState.OK, ...presentWords(submission) };
}

function holdAfter(hold: WrittenHold, submission: WrittenSubmission): WrittenHold {
  const { statusAfter, frozenAfter } = submission;
  assert(statusAfter != null && frozenAfter != null, 'what is done kept the hold');
  const amount = submission.amountAfter ?? 0n;
  const captured = submission.capturedAfter ?? 0n;
  const remaining = submission.remainingAfter ?? 0n;
  const released = submission.releasedAfter ?? 0n;
  const isClosed = !isOpen({ status: statusAfter });
  const reason = submission.kind === 'RELEASE' ? 'RELEASED' : hold.releaseReason;
  return {
    ...withTerms(hold, submission.termsAfter),
    status: statusAfter,
    amount,
    captured,
    inFlight: statusAfter === 'FAILED' ? 0n : amount - captured - remaining - released,
    remaining,
    released,
    reversed: submission.reversedAfter ?? 0n,
    refunded: submission.refundedAfter ?? 0n,
    releaseReason: isClosed && statusAfter !== 'FAILED' && released !== 0n ? reason : null,
    frozen: frozenAfter,
    expiresAt: submission.expiresAtAfter,
    guaranteedUntil: submission.guaranteedUntilAfter,
    closedAt: isClosed ? (hold.closedAt ?? submission.finalAt) : null,
  };
}
