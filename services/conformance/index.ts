/**
 * The conformance kit: `npm run conformance`. Judges a card processor's adapter through holdfast.processor.v1 alone
 * (docs/processors.md). Prints a table. Exit code: 0 = every check that could run passed, 1 = one failed, 2 = it could
 * not be judged, or most checks were skipped.
 */
import { type Options, readOptions, USAGE } from './options.ts';
import { readProfile } from './profile.ts';
import { codeOf, runConformance } from './run.ts';
import { tableOf } from './table.ts';

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(2));

const options = optionsOrUsage();
try {
  const verdicts = await runConformance(options, readProfile(options.profile));
  process.stdout.write(tableOf(verdicts));
  process.exitCode = codeOf(verdicts);
} catch (error) {
  process.stderr.write(`holdfast conformance: ${(error as Error).message}\n`);
  process.exitCode = 2;
}

function optionsOrUsage(): Options {
  try {
    return readOptions(process.argv.slice(2), process.env);
  } catch (error) {
    process.stderr.write(`holdfast conformance: ${(error as Error).message}\n\n${USAGE}`);
    return process.exit(2);
  }
}
