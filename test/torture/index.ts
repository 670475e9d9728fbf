/**
 * `npm run torture` plays random merchants against the model of the money; `-- crash`, `-- database`, `-- streams` and
 * `-- notifications` kill, cut and restart; `-- edge` sends hostile input. Every command takes `--seed` where chance decides, prints what it did to the service, and exits with 1 when anything is wrong.
 */
import { parseArgs } from 'node:util';
import { mochaGlobalSetup, mochaGlobalTeardown } from '../setup.ts';
import { tortureCrash } from './crash.ts';
import { tortureDatabase } from './database.ts';
import { tortureEdge } from './edge.ts';
import { tortureMoney } from './money.ts';
import { tortureNotifications } from './notifications.ts';
import { tortureStreams } from './streams.ts';

/** What a torture is told. */
export interface TortureOptions {
  readonly seed: number;
  /** How often; each torture has a number of its own when it is not told. */
  readonly runs: number | undefined;
}

/** The tortures by their names; each answers lines to print, and throws when something is wrong. */
const TORTURES = {
  money: tortureMoney,
  crash: tortureCrash,
  database: tortureDatabase,
  streams: tortureStreams,
  notifications: tortureNotifications,
  edge: tortureEdge,
} as const;

const { values, positionals } = parseArgs({
  options: { seed: { type: 'string' }, runs: { type: 'string' } },
  allowPositionals: true,
});
const [name = 'money'] = positionals;
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const runs = values.runs === undefined ? undefined : Number(values.runs);
if (!Object.hasOwn(TORTURES, name) || !Number.isInteger(seed) || (runs !== undefined && !(runs > 0))) {
  process.stderr.write(`torture [${Object.keys(TORTURES).join(' | ')}] [--seed number] [--runs number]\n`);
  process.exit(2);
}
process.stdout.write(`torture ${name}, seed ${seed}\n`);
await mochaGlobalSetup();
try {
  for (const line of await TORTURES[name as keyof typeof TORTURES]({ seed, runs })) process.stdout.write(`${line}\n`);
} catch (error) {
  process.stdout.write(
    `${(error as Error).stack}\nFAILED: npm run torture -- ${name} --seed ${seed}${runs ? ` --runs ${runs}` : ''}\n`,
  );
  process.exitCode = 1;
} finally {
  await mochaGlobalTeardown();
}
