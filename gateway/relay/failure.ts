import type { VerificationFailureReason } from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { Announced } from './announced.ts';

/** One failed verification; neither its body nor its signature. */
export interface Failure extends Announced {
  /** UUIDv7. */
  readonly failureId: string;
  readonly failedAt: Date;
  readonly reason: VerificationFailureReason;
  /** Unproven. */
  readonly claimedMerchantId: string;
  readonly address: string;
  readonly bodyBytes: number;
  readonly bodySha256: Buffer;
  /** 8 hexadecimal digits; empty when there was no signature. */
  readonly signatureSha256Prefix: string;
}
