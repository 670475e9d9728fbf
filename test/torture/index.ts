/**
 * `npm run torture` plays random merchants against the model of the money; `-- crash`, `-- database`, `-- streams` and
 * `-- notifications` kill, cut and restart; `-- edge` sends hostile input; `-- obedient` (the package), `--
 * obedient-python`, `-- obedient-keyed` and `-- obedient-unkeyed` (the table, literally) ask whether answers are promises, `-- neighbours` what one merchant's
 * trouble costs another; `-- failover` loses the database's machine, `-- failover-renewals` while holds are
 * renewed, `-- patroni` parts of docker-compose.ha.yml; `-- upgrade` mixes the release before with this tree;
 * `-- restore` takes the database back in time, `-- restores` many times to a random moment.
 * `-- liar` has a processor that breaks its contract, for `--minutes`, `-- liar-restored` also takes the database back. Every command takes `--seed` where chance
 * decides, and `edge` takes `--only WORDS`; each prints what it did to the service, and exits with 1 when anything is
 * wrong.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { mochaGlobalSetup, mochaGlobalTeardown } from '../setup.ts';
import * as world from '../world/lines.ts';
import { tortureEdge } from './edge.ts';
import { tortureLiar } from './liar.ts';
import { tortureMoney } from './money.ts';
import { torturePatroni } from './patroni.ts';

/** The tortures by name; each returns lines to print, and throws on a failure. */
const TORTURES = {
  money: tortureMoney,
  crash: world.crash,
  database: world.database(),
  streams: world.streams,
  notifications: world.notifications,
  edge: tortureEdge,
  obedient: world.obedient,
  'obedient-python': world.obedientPython,
  'obedient-keyed': world.obedientKeyed,
  'obedient-unkeyed': world.obedientUnkeyed,
  upgrade: world.upgrade,
  neighbours: world.neighbours,
  failover: world.failover,
  'failover-renewals': world.failoverRenewals,
  patroni: torturePatroni,
  restore: world.restore,
  restores: world.restores,
  liar: tortureLiar,
  'liar-restored': world.liarRestored,
} as const;

const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string' },
    rounds: { type: 'string' },
    minutes: { type: 'string' },
    only: { type: 'string' },
  },
  allowPositionals: true,
});
const [name = 'money'] = positionals;
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const times = values.runs ?? values.rounds;
const runs = times === undefined ? undefined : Number(times);
const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
const tell = (line: string) => void process.stdout.write(`${line}\n`);
const isPositive = (given: number | undefined) => given === undefined || given > 0;
if (!Object.hasOwn(TORTURES, name) || !Number.isInteger(seed) || !isPositive(runs) || !isPositive(minutes)) {
  process.stderr.write(
    `torture [${Object.keys(TORTURES).join(' | ')}] [--seed number] [--runs number | --rounds number | --minutes ` +
      'number]\n',
  );
  process.exit(2);
}
process.stdout.write(`torture ${name}, seed ${seed}\n`);
// A slow torture would blame the service for its own delays.
const lag = monitorEventLoopDelay();
lag.enable();
await mochaGlobalSetup();
try {
  for (const line of await TORTURES[name as keyof typeof TORTURES]({ seed, runs, minutes, only: values.only, tell }))
    tell(line);
} catch (error) {
  process.stdout.write(
    `${(error as Error).stack}\nFAILED: npm run torture -- ${name} --seed ${seed}${runs ? ` --runs ${runs}` : ''}\n`,
  );
  process.exitCode = 1;
} finally {
  tell(`this process itself was late by ${Math.round(lag.max / 1e6)} ms at most`);
  await mochaGlobalTeardown();
}
// Clients of a torture that failed may still ask.
process.exit();
