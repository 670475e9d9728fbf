import type { CallerPatience } from '../../../platform/gather.ts';
import type { Change } from '../domain/hold-rules.ts';
import type { KindOnHold } from '../domain/kinds.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import type { ClaimInput } from '../storage/claim/claim-row.ts';
import type { HoldRow, WrittenHold } from '../storage/hold/hold-row.ts';
import type { HoldInput } from '../storage/hold/insert-holds.ts';
import type { NewRow } from '../storage/input-columns.ts';
import type { ExceededLimit, Stored as StoredRow, SubmissionInput } from '../storage/submission/store-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import type { Facts } from './facts.ts';

/** A request before it is judged and stored. */
interface Request {
  readonly requestId: string;
  /** The call that it comes of; absent = nobody called. */
  readonly claim?: ClaimInput | undefined;
  /** Its identifier at the processor; absent = it follows from the key, or is the requestId. */
  readonly processorRequestId?: string | undefined;
  /** It is imported from the processor's books. */
  readonly imported?: boolean | undefined;
  readonly patience?: CallerPatience | undefined;
  readonly at: Date;
  readonly inquireAt: Date;
}

/** A merchant's own data about an operation. */
export type Words = NewRow<SubmissionRow, 'merchantReference' | 'metadata' | 'reason'>;

/** Only that of a row or a request. */
export function wordsOf({ merchantReference, metadata, reason }: Partial<Words>): Partial<Words> {
  return { merchantReference, metadata, reason };
}

/** A request that changes the books of a hold. */
export interface HoldRequest extends Request, Partial<Words> {
  readonly kind: KindOnHold;
  readonly idHash: Buffer;
  /** Undefined = an operator's call, for any merchant, or our own. */
  readonly merchantId?: string | undefined;
  /** Of a refund: the capture that it gives back. */
  readonly captureRequestId?: string | undefined;
  /** The requestId of the authorization that it is on: of the hold, or of a RENEWAL. Undefined = the present one. */
  readonly authorization?: string | undefined;
  /** Of a LATE_VOID: a renewal has left that authorization to give back. */
  readonly replaced?: boolean | undefined;
  /** As the caller gives it; undefined = the hold's currency. */
  readonly currency?: string | undefined;
  /**
   * Minor units. Of a refund undefined = all that is left of its capture; of a release all that remained when it was
   * asked, undefined = whatever remains.
   */
  readonly amount?: bigint | undefined;
  readonly finalCapture?: boolean | undefined;
  /** The hold captures what remains by itself, at its captureAt. */
  readonly automatic?: boolean | undefined;
  /** The processor ended the authorization by itself, and reported it: nothing is sent. */
  readonly reported?: boolean | undefined;
}

/** A request for an OCT. */
export type OctRequest = Request &
  NewRow<HoldRow, 'merchantId' | 'terminalId' | 'userId' | 'amount' | 'currency' | 'processor' | 'processorAccount'> &
  Partial<Words> & { readonly kind: 'OCT'; readonly tokenId: string };

export type SubmissionRequest = HoldRequest | OctRequest;

/** A request to place a hold. */
export interface PlaceRequest {
  readonly kind: 'HOLD';
  readonly requestId: string;
  readonly hold: HoldInput;
  /** The hash of the handle of the hold that it renews; that one is judged then. */
  readonly renewedHash?: Buffer | undefined;
  readonly patience?: CallerPatience | undefined;
}

/** The stored fields of a request, and its effect on the hold or its captures until it has its result. */
export interface Reservation
  extends Partial<
    Pick<
      SubmissionInput,
      | 'finalCapture'
      | 'automatic'
      | 'reported'
      | 'amountReleased'
      | 'processorReference'
      | 'fromReleased'
      | 'authorizationId'
    >
  > {
  /** Minor units; reserved on the hold when its kind does so. */
  readonly amount: bigint;
  /** True when nothing else may be captured until it has its result. */
  readonly closing: boolean;
  /** It is an increment or an extension. */
  readonly changing?: Change;
}

/**
 * The result of storing a request. RESUMED = it was stored by a statement whose result was lost, or by another call
 * with its requestId. Otherwise, unless it is STORED, the reason why it is not.
 */
export interface Stored {
  readonly outcome: StoredRow['outcome'] | 'RESUMED' | 'OTHER_CURRENCY' | RefusalCode;
  /** Set when STORED. */
  readonly facts?: Facts | undefined;
  /** The hold as it was judged, if the caller may know of it. */
  readonly hold?: WrittenHold | undefined;
  /** Set when a refund exceeds its capture: the capture's refundable amount, minor units. */
  readonly left?: bigint | undefined;
  /** Set when LIMIT_EXCEEDED. */
  readonly exceeded?: ExceededLimit | undefined;
}

/** Returns whether a request is stored and has to be sent. */
export function isStored({ outcome }: Stored): boolean {
  return outcome === 'STORED' || outcome === 'RESUMED';
}

/** The stored fields of every request, as statements take them. */
export function sentInput({ requestId, claim, processorRequestId, imported, patience, at, inquireAt }: Request) {
  return {
    ...claim,
    requestId,
    processorRequestId,
    imported,
    createdAt: at,
    inquireAt,
    deadline: deadlineOf(patience),
  } satisfies Partial<SubmissionInput>;
}

/** The deadline of a caller as statements take it; undefined = none before the year 10000, which they cannot read. */
export function deadlineOf(patience: CallerPatience | undefined): Date | undefined {
  return patience && patience.deadlineMs < YEAR_10000_MS ? new Date(patience.deadlineMs) : undefined;
}

const YEAR_10000_MS = 253_402_300_800_000;
