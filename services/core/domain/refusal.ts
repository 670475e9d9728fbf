import type { ErrorReason } from '../../../proto/gen/holdfast/v1/error_pb.js';
import type { FrozenBecause } from './contradiction.ts';

/** The vocabulary of refusals: the words of ErrorReason (proto/holdfast/v1/error.proto). */
export type RefusalCode = Exclude<keyof typeof ErrorReason, 'UNSPECIFIED'>;

/** Details of a refusal. */
export interface RefusalDetails {
  /** The operation that the refused call created, when it created one. */
  readonly requestId?: string | undefined;
  readonly processorCode?: string | undefined;
  readonly processorMessage?: string | undefined;
  /** The answer was kept under an idempotency key. */
  readonly replayed?: boolean | undefined;
  /** Minor units: what remains of the hold (AMOUNT_EXCEEDS_HOLD) or of the capture (AMOUNT_EXCEEDS_CAPTURE). */
  readonly amountRemaining?: bigint | undefined;
  readonly currency?: string | undefined;
  /** HOLD_FROZEN: why. */
  readonly frozenBecause?: FrozenBecause | undefined;
  /** LIMIT_EXCEEDED: the limit, minor units; and when the operation may fit again, if it ever does. */
  readonly limit?: bigint | undefined;
  readonly resetsAt?: Date | undefined;
  /** Seconds to wait before another try. */
  readonly retryAfterS?: number | undefined;
  /** Fields at fault, by their name in the contract. */
  readonly violations?: readonly { readonly field: string; readonly description: string }[] | undefined;
  /** For logs only. */
  readonly cause?: unknown;
}

/** Thrown when a call is refused, for a reason of the vocabulary. Unknown outcomes are stored states, not refusals. */
export class HoldfastError extends Error {
  readonly code: RefusalCode;
  readonly details: RefusalDetails;

  constructor(code: RefusalCode, message: string, details: RefusalDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'HoldfastError';
    this.code = code;
    this.details = details;
  }
}
