import type { AGAIN, CallerPatience } from '../../../platform/gather.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import type { Database } from '../storage/database.ts';
import type { HoldRow } from '../storage/hold/hold.ts';
import type { OperationInput } from '../storage/operation/operation-log.ts';
import type { NotStored, Stored } from '../storage/operation/store-submissions.ts';

/** The outcome of storing a new operation. RESUMED = a statement whose result was lost stored it, maybe another core's. */
export type Insertion = Stored<'STORED' | 'RESUMED'>;

/** The outcome of a reservation, with its identifier at the processor (null = its requestId), or the reason why it was not made. */
export type Reservation =
  | { readonly reserved: true; readonly hold: HoldRow; readonly processorRequestId: string | null }
  | {
      readonly reserved: false;
      readonly refusal: RefusalCode | NotStored;
      readonly hold?: HoldRow | undefined;
      /** Of what is stored already, when REPEATED. */
      readonly processorRequestId?: string | null | undefined;
    };

/** A write that ended operations: whether it changed its subject, and which deliveries it made. */
export interface Ended {
  readonly changed: boolean;
  readonly deliveries: readonly { readonly id: string; readonly endpoint: string }[];
  /** The result, when it was written and has a notification. */
  readonly result?: Pick<OperationInput, 'kind' | 'status' | 'statusInfo'> | undefined;
}

/** A reservation by a statement of its own. Those with the same key (a hold) run one after another. */
export interface Reserving {
  readonly key: string;
  readonly patience?: CallerPatience | undefined;
  /** AGAIN = the hold was locked or has changed. */
  run(database: Database): Promise<Reservation | typeof AGAIN>;
}

/** An end by a statement of its own. Those with the same key (an operation) run one after another. */
export interface RareEnd {
  readonly key: string;
  /** AGAIN = the hold was locked or has changed. */
  run(database: Database): Promise<Ended | typeof AGAIN>;
}

/** The deadline of a caller as statements take it: RFC 3339; undefined = none. */
export function deadlineOf(patience: CallerPatience | undefined): string | undefined {
  return patience?.deadlineMs === undefined ? undefined : new Date(patience.deadlineMs).toISOString();
}
