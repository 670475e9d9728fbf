/** What a write comes to, and what its answer has when it was done. */
import type { AwaitedCustomer, Capture, CreatePreauthorization, Hold, OpenCheckout } from './api.ts';
import type { CallOptions } from './call.ts';

/** Options of a write. */
export interface WriteOptions extends CallOptions {
  /**
   * Names an operation that is to be done once; a write under an earlier key gets the earlier answer. Drawn when
   * absent.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A write that was done: the answer, and under which key. */
export type Done<T> = T & { readonly outcome: 'done'; readonly idempotencyKey: string; readonly replayed: boolean };

/**
 * The time was over before there was an outcome: it may have been done, or will be. Call again with the same
 * `idempotencyKey`, and with no other: that answers what became of it, however often it is asked.
 */
export interface Unknown {
  readonly outcome: 'unknown';
  readonly idempotencyKey: string;
  /** The operation, once the service has said that it is stored. */
  readonly requestId?: string | undefined;
  /** Why the last try that may have done it says nothing, in one line. */
  readonly reason?: string | undefined;
}

/** The answer of a write that makes an operation. */
export type Written<T> = Promise<Done<T> | Unknown>;

/** A hold that was placed, and may have ended since: its handle captures it. */
export type PlacedHold = Hold & { preauthorizationId: string; phase: 'AUTHORIZED' | 'CLOSED' };

/** A capture that was done. */
export type DoneCapture = Capture &
  Required<
    Pick<Capture, 'captureDate' | 'amountCaptured' | 'amountRemaining' | 'amountReleased' | 'preauthorizationStatus'>
  >;

/** Places a hold. What it answers follows from what is passed. */
export interface CreateHold {
  /** With a token: the hold. */
  (
    hold: CreatePreauthorization & { tokenId: string; returnUrl?: undefined },
    options?: WriteOptions,
  ): Written<PlacedHold>;
  /** With a token and `returnUrl`: the hold, or the page of the card's issuer where the customer is to go. */
  (hold: CreatePreauthorization & { tokenId: string }, options?: WriteOptions): Written<PlacedHold | AwaitedCustomer>;
  /** Without a token: the page where the customer enters a card. Under an earlier key, once it did: the hold. */
  (hold: CreatePreauthorization & { tokenId?: undefined }, options?: WriteOptions): Written<PlacedHold | OpenCheckout>;
  /** Where it is not known before. */
  (hold: CreatePreauthorization, options?: WriteOptions): Written<Hold | OpenCheckout | AwaitedCustomer>;
}
