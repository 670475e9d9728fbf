import type { NotificationKind } from '../delivery/delivery-row.ts';

/**
 * A notification that the relay has verified, as it was signed; status, amount and currency are '' in kind relay.
 * (merchantId, requestId) is unique for ever.
 */
export interface AcceptedRow {
  readonly merchantId: string;
  readonly requestId: string;
  readonly kind: NotificationKind;
  readonly statusInfo: string;
  readonly status: string;
  /** Source text, as signed. */
  readonly amount: string;
  readonly currency: string;
  readonly receivedAt: Date;
  /** What its sender calls it; null unless kind is relay. */
  readonly identifier: string | null;
}

/** A verified notification that the relay hands in. */
export interface NotificationInput extends Omit<AcceptedRow, 'receivedAt'> {
  /** As received. */
  readonly body: Uint8Array;
  readonly signature: string;
  /** UUIDv7 of the delivery that forwards it. */
  readonly deliveryId: string;
  /** RFC 3339. */
  readonly receivedAt: string;
  /** W3C traceparent, while tracing is on. */
  readonly traceParent?: string | undefined;
  /** SHA-256 of the body, hexadecimal, where the body decides whether it is the same; null = the signed fields do. */
  readonly digest: string | null;
  /** The headers that are forwarded with it, of another sender; null = of no other sender. */
  readonly relayedHeaders: Readonly<Record<string, string>> | null;
  /** False = it is stored only. */
  readonly forward: boolean;
}

/** The identity of a notification. */
export type NotificationKey = Pick<NotificationInput, 'merchantId' | 'requestId'>;
