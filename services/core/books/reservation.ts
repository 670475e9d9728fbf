import type { AGAIN, CallerPatience } from '../../../platform/gather.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import type { KeyInput } from '../storage/claim/claim.ts';
import type { Database } from '../storage/database.ts';
import type { HoldRow } from '../storage/hold/hold.ts';
import type { ReadHold } from '../storage/hold/read-holds.ts';
import type { NotStored, ReservationInput, Stored } from '../storage/operation/store-submissions.ts';

/** The outcome of storing a new operation. RESUMED = a statement whose result was lost stored it, or another call with its requestId. */
export type Insertion = Stored<'STORED' | 'RESUMED'>;

/** The outcome of a reservation, with its identifier at the processor (null = its requestId), or the reason why it was not made. */
export type Reservation =
  | {
      readonly reserved: true;
      readonly hold: HoldRow;
      readonly processorRequestId: string | null;
      /** A statement whose result was lost made it, or another call with its requestId. */
      readonly resumed?: boolean | undefined;
    }
  | { readonly reserved: false; readonly refusal: RefusalCode | NotStored; readonly hold?: HoldRow | undefined };

/** A reservation by a statement of its own. Those with the same key (a hold) run one after another. */
export interface Reserving {
  readonly key: string;
  readonly patience?: CallerPatience | undefined;
  /** AGAIN = the hold was locked or has changed. */
  run(database: Database): Promise<Reservation | typeof AGAIN>;
}

/** A requested capture or release of a hold. */
export interface Requested {
  readonly requestId: string;
  /** Undefined = an operator's call, for any merchant, or our own. */
  readonly merchantId?: string | undefined;
  /** Its identifier at the processor; absent = it follows from the key, or is the requestId. */
  readonly processorRequestId?: string | undefined;
  /** It is imported from the processor's books. */
  readonly imported?: boolean | undefined;
  readonly key?: KeyInput | undefined;
  readonly patience?: CallerPatience | undefined;
  readonly at: Date;
  readonly inquireAt: Date;
}

/** Whether a hold is one that the caller may know of. */
export function isOwn<Hold extends HoldRow>(hold: Hold | undefined, { merchantId }: Requested): hold is Hold {
  return hold !== undefined && (merchantId === undefined || hold.merchantId === merchantId);
}

/** What is stored of a request that was judged by its hold, as the statement takes it. */
export function reservationInput(
  { requestId, processorRequestId, imported, key, patience, at, inquireAt }: Requested,
  { requestId: holdRequestId, merchantId, currency, processor, processorAccount, version }: ReadHold,
): Omit<ReservationInput, 'amount' | 'closing'> {
  return {
    ...{ requestId, holdRequestId, merchantId, currency, processor, processorAccount, processorRequestId, imported },
    ...{ version, key },
    createdAt: at.toISOString(),
    inquireAt: inquireAt.toISOString(),
    deadline: deadlineOf(patience),
  };
}

/** What storing a judged request comes to. */
export function reservationOf(hold: HoldRow, { outcome, processorRequestId }: Stored): Reservation {
  if (outcome === 'STORED') return { reserved: true, hold, processorRequestId };
  return { reserved: false, refusal: outcome, hold };
}

/** The deadline of a caller as statements take it: RFC 3339; undefined = none. */
export function deadlineOf(patience: CallerPatience | undefined): string | undefined {
  return patience?.deadlineMs === undefined ? undefined : new Date(patience.deadlineMs).toISOString();
}
