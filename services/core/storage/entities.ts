import { ApiKeyEntity } from './api-key.ts';
import { AuditEntryEntity } from './audit-entry.ts';
import { CaptureEntity } from './capture.ts';
import { DeliveryEntity } from './delivery.ts';
import { DeliveryAttemptEntity } from './delivery-attempt.ts';
import { EndedSessionEntity } from './ended-session.ts';
import { EndpointEntity } from './endpoint.ts';
import { HoldEntity } from './hold.ts';
import { IdempotencyKeyEntity } from './idempotency-key.ts';
import { MerchantEntity } from './merchant.ts';
import { NotificationEntity } from './notification.ts';
import { OctEntity } from './oct.ts';
import { OperationEntity } from './operation.ts';
import { ProcessorEventEntity } from './processor-event.ts';
import { QuarantinedNotificationEntity } from './quarantined-notification.ts';
import { ReleaseEntity } from './release.ts';
import { SignatureNonceEntity } from './signature-nonce.ts';
import { SigningSecretEntity } from './signing-secret.ts';
import { VerificationFailureEntity } from './verification-failure.ts';

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
  EndpointEntity,
  NotificationEntity,
  QuarantinedNotificationEntity,
  VerificationFailureEntity,
  ProcessorEventEntity,
  SignatureNonceEntity,
  EndedSessionEntity,
  AuditEntryEntity,
] as const;
