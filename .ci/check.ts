/** `npm run check`: everything about the tree that can be said without running the service. One line for each step. */
import { circleFaults } from './circles.ts';
import { clientTypeFaults } from './client-types.ts';
import { breakingFaults, generatedFaults } from './contract.ts';
import { coreBreaches } from './core-rooms.ts';
import { breaches } from './import-rules.ts';
import { kindFaults } from './kinds.ts';
import { lockFaults } from './lock.ts';
import { packageFaults } from './packages.ts';
import { runTool } from './run-tool.ts';
import { dumpFaults, entityFaults, withMigratedDatabase } from './schema.ts';
import { readSources } from './sources.ts';
import { statementFaults } from './statements.ts';
import { tableFaults } from './tables.ts';

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
  ['generated code current', generatedFaults],
  ['types of the client current', clientTypeFaults],
  ['kinds at the edge current', kindFaults],
  ['contract compatible', breakingFaults],
  ['statements current', statementFaults],
  ['import rules', async () => breaches(await readSources())],
  ['no circles', async () => circleFaults(await readSources())],
  ['rooms of core', async () => coreBreaches(await readSources())],
  ['packages', async () => packageFaults(await readSources())],
  ['lock complete and pinned', lockFaults],
  ['tables of the documents current', tableFaults],
];

/** These share one database. */
const DATABASE_STEPS: readonly (readonly [string, (databaseUrl: string) => Promise<readonly string[]>])[] = [
  ['entities equal migrations', entityFaults],
  ['schema dump current', dumpFaults],
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
