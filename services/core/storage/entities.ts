import { ApiKeyEntity } from './api-key.ts';
import { AuditEntryEntity } from './audit-entry.ts';
import { CaptureEntity } from './capture.ts';
import { DeliveryEntity } from './delivery.ts';
import { DeliveryAttemptEntity } from './delivery-attempt.ts';
import { HoldEntity } from './hold.ts';
import { IdempotencyKeyEntity } from './idempotency-key.ts';
import { MerchantEntity } from './merchant.ts';
import { NotificationEntity } from './notification.ts';
import { OctEntity } from './oct.ts';
import { OperationEntity } from './operation.ts';
import { ProcessorEventEntity } from './processor-event.ts';
import { ReleaseEntity } from './release.ts';
import { SignatureNonceEntity } from './signature-nonce.ts';
import { SigningSecretEntity } from './signing-secret.ts';

/** Every table that the ORM knows; the migrations must make exactly these. */
export const ENTITIES = [
  MerchantEntity,
  ApiKeyEntity,
  SigningSecretEntity,
  HoldEntity,
  CaptureEntity,
  ReleaseEntity,
  OctEntity,
  OperationEntity,
  IdempotencyKeyEntity,
  DeliveryEntity,
  DeliveryAttemptEntity,
  NotificationEntity,
  ProcessorEventEntity,
  SignatureNonceEntity,
  AuditEntryEntity,
] as const;
