import type { Schema } from '../platform/adapter/postgres/migrate.ts';
import { hashMigration } from '../platform/migrations/recorded.ts';
import { ADYEN_SCHEMA } from '../services/adyen/ledger/schema.ts';
import { STRIPE_SCHEMA } from '../services/stripe/ledger/schema.ts';

/** Returns the hash of each migration of the adapters' ledgers, by `schema/name`. */
export function ledgerMigrations(): Record<string, string> {
  const of = ({ name: schema, migrations }: Schema) =>
    migrations.map(({ name, sql }) => [`${schema}/${name}`, hashMigration(sql)] as const);
  return Object.fromEntries([ADYEN_SCHEMA, STRIPE_SCHEMA].flatMap(of));
}
