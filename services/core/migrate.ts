/** The migration step: brings the database named by DATABASE_URL to this version's schema, then exits. */
import { migrate } from './storage/migrate.ts';

try {
  await migrate(process.env.DATABASE_URL ?? '');
} catch (error) {
  process.stderr.write(`holdfast migrate: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
