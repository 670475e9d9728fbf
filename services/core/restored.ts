/**
 * `npm run restored -- --operator NAME`: the step after the database went back in time, before its processes start.
 * Exit code: 0 = done, 2 = it could not be done.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { databaseUrl, readSettings } from '../../platform/settings.ts';
import { inNameOf, readOperator } from './storage/audit-log/actor.ts';
import { demandMigrated } from './storage/demand-migrated.ts';
import { openPool } from './storage/open-pool.ts';
import { moveSequencesAhead } from './storage/reconciling.ts';

try {
  const { values } = parseArgs({ options: { operator: { type: 'string', default: '' } } });
  const actor = `operator/${readOperator(values.operator)}`;
  const settings = readSettings(z.object({ DATABASE_URL: databaseUrl }), process.env);
  await using opened = new AsyncDisposableStack();
  await demandMigrated(settings.DATABASE_URL);
  const database = await openPool({ databaseUrl: settings.DATABASE_URL, poolSize: 1 });
  opened.defer(() => database.close());
  const moved = await inNameOf(actor, () => moveSequencesAhead(database, new Date()));
  process.stdout.write(`results go on after ${moved.operation}, changes of credentials after ${moved.change}\n`);
} catch (error) {
  process.stderr.write(`holdfast restored: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
