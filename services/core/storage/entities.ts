import { AuditEntryEntity } from './audit-log/audit-log.ts';
import { CaptureEntity } from './capture/capture.ts';
import { ClaimEntity } from './claim/claim.ts';
import { InstallationEntity } from './claim/key-identifier.ts';
import { DeliveryAttemptEntity, DeliveryEntity } from './delivery/delivery.ts';
import { EndpointEntity } from './endpoint/endpoint.ts';
import { HoldEntity } from './hold/hold.ts';
import { ImportedEntity } from './imported/imported.ts';
import { ApiKeyEntity, SigningSecretEntity } from './merchant/credentials.ts';
import { MerchantEntity } from './merchant/merchant.ts';
import { QuotaEntity } from './merchant/quota.ts';
import { SignatureNonceEntity } from './merchant/signature-nonce.ts';
import { NotificationEntity } from './notification/notification.ts';
import { QuarantinedNotificationEntity } from './notification/quarantined-notification.ts';
import { VerificationFailureEntity } from './notification/verification-failure.ts';
import { OctEntity } from './oct/oct.ts';
import { OperationEntity } from './operation/operation.ts';
import { ProcessorEventEntity } from './processor-event/processor-event.ts';
import { ProcessorIdentityEntity } from './processor-identity/processor-identity.ts';
import { ReleaseEntity } from './release/release.ts';
import { EndedSessionEntity } from './session/ended-session.ts';

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
  ClaimEntity,
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
  InstallationEntity,
  ProcessorIdentityEntity,
  ImportedEntity,
  QuotaEntity,
] as const;
