import { connectAtStart } from '../../../platform/database-client.ts';
import { demandSession } from '../../../platform/demand-session.ts';
import { foreignMigration, missingMigrations, readRecorded } from '../../../platform/migrations/recorded.ts';
import { MIGRATION_TABLE, treeMigrations } from './tree-migrations.ts';

/** Throws an Error of one line when the database of DATABASE_URL cannot be used, or has not this version's schema. */
export async function demandMigrated(databaseUrl: string): Promise<void> {
  const client = await connectAtStart(databaseUrl);
  try {
    await demandSession(client, databaseUrl);
    const [recorded, known] = [await readRecorded(client, MIGRATION_TABLE), await treeMigrations()];
    const foreign = foreignMigration(recorded, known);
    if (foreign !== undefined) throw new Error(`DATABASE_URL: the database cannot be used: ${foreign}`);
    const isDone = known.every(({ name }) => recorded.get(name)?.hash != null);
    if (!isDone || missingMigrations(recorded, known).length > 0) {
      throw new Error('DATABASE_URL: the database lacks migrations of this version; run npm run migrate');
    }
  } finally {
    await client.end();
  }
}
