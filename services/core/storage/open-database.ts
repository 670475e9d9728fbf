import { MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { parseDatabaseUrl } from '../../../platform/database-url.ts';
import { AuditEntryEntity } from './audit-log/audit-log.ts';
import type { OrmDatabase } from './database.ts';
import { DeliveryAttemptEntity, DeliveryEntity } from './delivery/delivery-row.ts';
import { EndpointEntity } from './endpoint/endpoint-row.ts';
import { EndpointSecretEntity, WebhookEndpointEntity } from './endpoint/webhook-endpoint-row.ts';
import { HoldEntity } from './hold/hold-row.ts';
import { ApiKeyEntity, SigningSecretEntity } from './merchant/credential-rows.ts';
import { MerchantEntity } from './merchant/merchant-row.ts';
import { QuarantinedNotificationEntity } from './notification/quarantined-notification.ts';
import { VerificationFailureEntity } from './notification/verification-failure.ts';
import { type DatabaseSettings, databaseOn, poolOptions } from './open-pool.ts';
import { OperationEntity } from './operation/operation-row.ts';
import { ORM } from './orm.ts';
import { RelayKeyEntity, RelaySenderEntity } from './relay/relay-rows.ts';
import { SubmissionEntity } from './submission/submission-row.ts';

/** The tables that the ORM reads, or whose rows are typed by it; the migrations must make their columns. */
const ENTITIES = [
  MerchantEntity,
  ApiKeyEntity,
  SigningSecretEntity,
  HoldEntity,
  SubmissionEntity,
  OperationEntity,
  DeliveryEntity,
  DeliveryAttemptEntity,
  EndpointEntity,
  WebhookEndpointEntity,
  EndpointSecretEntity,
  QuarantinedNotificationEntity,
  VerificationFailureEntity,
  RelaySenderEntity,
  RelayKeyEntity,
  AuditEntryEntity,
];

/** Opens the pool. Throws when the database cannot be reached within 5 s, or is a standby. */
export async function openDatabase(settings: DatabaseSettings): Promise<OrmDatabase> {
  const orm = await MikroORM.init({
    clientUrl: parseDatabaseUrl(settings.databaseUrl).firstUrl,
    entities: ENTITIES,
    pool: { min: 0, max: settings.poolSize },
    // The ORM itself reads only address, name and password of the URL, and would drop its sslmode.
    driverOptions: poolOptions(settings),
    // Standard output is for the process's own log; errors are thrown.
    logger: () => undefined,
  });
  const connection = orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> };
  const pool = await connection.getNativeClient();
  return { ...databaseOn(pool), [ORM]: orm, close: () => orm.close(true) };
}
