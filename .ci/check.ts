/** `npm run check`: everything about the tree that can be said without running the service. One line for each step. */
import { CLIENT_TYPES } from './client-types.ts';
import { breakingFaults, generatedFaults } from './contract.ts';
import { CURRENCIES } from './currencies.ts';
import { faultsOf } from './generated.ts';
import { breaches } from './import-rules.ts';
import { KINDS } from './kinds.ts';
import { LOCK, lockFaults } from './lock.ts';
import { entityFaults, STATEMENTS, schemaDump, withMigratedDatabase } from './schema.ts';
import { readSources, runTool } from './sources.ts';
import { TABLES } from './tables.ts';

/** What a step is called, and its work: it answers or throws its faults. */
type Step = readonly [name: string, run: () => Promise<readonly string[]>];

const tool =
  (program: string, ...args: string[]) =>
  async () => {
    await runTool(program, args);
    return [];
  };

const STEPS: readonly Step[] = [
  ['types', tool('tsc', '--noEmit')],
  ['lint and format', tool('biome', 'ci', '--error-on-warnings', '--colors=off')],
  ['contract style', tool('buf', 'lint')],
  ['generated code of the contract current', generatedFaults],
  [
    'other generated files current',
    () => faultsOf([LOCK, ...KINDS, ...CURRENCIES, CLIENT_TYPES, STATEMENTS, ...TABLES]),
  ],
  ['contract compatible', breakingFaults],
  ['import rules', async () => breaches(await readSources())],
  ['lock pinned', lockFaults],
];

/** These share one database. */
const DATABASE_STEPS: readonly (readonly [string, (databaseUrl: string) => Promise<readonly string[]>])[] = [
  ['entities equal migrations', entityFaults],
  ['schema dump current', (databaseUrl) => faultsOf([schemaDump(databaseUrl)])],
];

let failed = 0;
for (const [name, run] of STEPS) await report(name, run);
await report('migrations run', async () => {
  await withMigratedDatabase(async (databaseUrl) => {
    for (const [name, run] of DATABASE_STEPS) await report(name, () => run(databaseUrl));
  });
  return [];
});
process.exitCode = failed === 0 ? 0 : 1;

async function report(name: string, run: Step[1]): Promise<void> {
  const startedMs = performance.now();
  const faults = await run().catch((error: Error) => [error.message]);
  const time = `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
  process.stdout.write(`${faults.length === 0 ? 'ok    ' : 'FAILED'} ${name}, ${time}\n`);
  for (const fault of faults) process.stdout.write(`${fault.replaceAll(/^/gm, '       ')}\n`);
  if (faults.length > 0) failed += 1;
}
