import { AuditEntryEntity } from './audit-log/audit-log.ts';
import { DeliveryAttemptEntity, DeliveryEntity } from './delivery/delivery-row.ts';
import { EndpointEntity } from './endpoint/endpoint-row.ts';
import { HoldEntity } from './hold/hold-row.ts';
import { ApiKeyEntity, SigningSecretEntity } from './merchant/credential-rows.ts';
import { MerchantEntity } from './merchant/merchant-row.ts';
import { QuarantinedNotificationEntity } from './notification/quarantined-notification.ts';
import { VerificationFailureEntity } from './notification/verification-failure.ts';
import { OperationEntity } from './operation/operation-row.ts';
import { SubmissionEntity } from './submission/submission-row.ts';

/** The tables that the ORM reads, or whose rows are typed by it; the migrations must make their columns. */
export const ENTITIES = [
  MerchantEntity,
  ApiKeyEntity,
  SigningSecretEntity,
  HoldEntity,
  SubmissionEntity,
  OperationEntity,
  DeliveryEntity,
  DeliveryAttemptEntity,
  EndpointEntity,
  QuarantinedNotificationEntity,
  VerificationFailureEntity,
  AuditEntryEntity,
] as const;
