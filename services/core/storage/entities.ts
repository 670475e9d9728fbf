import { AuditEntryEntity } from './audit-log/audit-log.ts';
import { ClaimEntity } from './claim/claim-row.ts';
import { InstallationEntity } from './claim/key-identifier.ts';
import { DeliveryAttemptEntity, DeliveryEntity } from './delivery/delivery.ts';
import { EndpointEntity } from './endpoint/endpoint.ts';
import { HoldEntity } from './hold/hold-row.ts';
import { ImportedEntity } from './imported/imported.ts';
import { ApiKeyEntity, SigningSecretEntity } from './merchant/credentials.ts';
import { MerchantEntity } from './merchant/merchant.ts';
import { QuotaEntity } from './merchant/quota.ts';
import { SignatureNonceEntity } from './merchant/signature-nonce.ts';
import { NotificationEntity } from './notification/notification.ts';
import { QuarantinedNotificationEntity } from './notification/quarantined-notification.ts';
import { VerificationFailureEntity } from './notification/verification-failure.ts';
import { OperationEntity } from './operation/operation-row.ts';
import { ProcessorEventEntity } from './processor-event/processor-event-row.ts';
import { ProcessorIdentityEntity } from './processor-identity/processor-identity.ts';
import { EndedSessionEntity } from './session/ended-session.ts';
import { SubmissionEntity } from './submission/submission-row.ts';

/** Every table that the ORM knows; the migrations must make exactly these. */
export const ENTITIES = [
  MerchantEntity,
  ApiKeyEntity,
  SigningSecretEntity,
  HoldEntity,
  SubmissionEntity,
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
