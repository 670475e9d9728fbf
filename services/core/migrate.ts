/** The migration step: brings the database named by DATABASE_URL to this version's schema, then exits. */
import { z } from 'zod';
import { databaseUrl, readSettings } from '../../platform/settings.ts';
import { migrateDatabase } from './storage/migrate-database.ts';

try {
  const settings = readSettings(z.object({ DATABASE_URL: databaseUrl }), process.env);
  await migrateDatabase(settings.DATABASE_URL, {
    say: (line) => process.stderr.write(`holdfast migrate: ${line}\n`),
  });
} catch (error) {
  process.stderr.write(`holdfast migrate: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
