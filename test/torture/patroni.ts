/** The deployment of docker-compose.ha.yml loses parts under load; Patroni, etcd and HAProxy decide what follows. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { isInstalled } from '../docs/is-installed.ts';
import { seconds } from '../world/faults/processes.ts';
import { obeyedSoFar } from '../world/judges/obeyed.ts';
import { served } from '../world/judges/served.ts';
import { NOTHING_DISOBEYED } from '../world/lines.ts';
import { OBEDIENT, type Obedient, startObedient } from '../world/merchants/obedient.ts';
import { type Fault, lineOf } from '../world/play.ts';
import { type Deployment, openDeployment } from './deployment/deployment.ts';
import type { TortureOptions } from './options.ts';
import { type Cluster, startCluster } from './patroni/cluster.ts';
import { LOSSES, type Loss } from './patroni/losses.ts';

/**
 * Loses each part in turn, `runs` times. Returns for how long no call succeeded; throws when an acknowledged operation
 * is lost or done twice, or the books do not balance.
 */
export async function torturePatroni({ runs = 1, ...options }: TortureOptions): Promise<string[]> {
  const missing = whatIsMissing();
  if (missing !== undefined) return [`skipped: ${missing}`];
  const cluster = await startCluster();
  const faults = Object.entries(LOSSES).map(
    ([name, loss]): Fault<Deployment, Obedient> => ({
      name,
      strike: async ({ merchants }) => ({ what: await lose(loss, cluster, merchants) }),
    }),
  );
  const line = lineOf({
    ...NOTHING_DISOBEYED,
    stage: () => openDeployment(OBEDIENT, { startDatabase: async () => ({ ...cluster, ...UNTOUCHED }) }),
    merchants: (stage, random) => startObedient(stage, 'table', random),
    rounds: runs,
    phases: () => [{ faults, times: runs * faults.length, afterEach: [served, obeyedSoFar] }],
  });
  try {
    return await line(options);
  } finally {
    await cluster.close();
  }
}

/** The deployment's own database is the cluster, which is started and stopped here. */
const UNTOUCHED = {
  name: 'database',
  freeze: () => assert.fail(),
  kill: () => assert.fail(),
  start: () => assert.fail(),
  stop: async () => undefined,
  remove: async () => undefined,
};

/** Returns what this machine does not have, or undefined. */
function whatIsMissing(): string | undefined {
  if (process.getuid?.() !== 0 || Object.keys(networkInterfaces()).some((name) => name !== 'lo'))
    return 'it needs root and namespaces of its own (docs/high-availability.md)';
  for (const program of ['patroni', 'etcd', 'haproxy', 'openssl', 'ip', 'nsenter', 'unshare', 'setpriv'])
    if (!isInstalled(program)) return `${program} is not installed`;
  if (!existsSync('/usr/lib/postgresql')) return 'PostgreSQL is not installed';
  const [, major, minor, patch] = /(\d+)\.(\d+)\.(\d+)/.exec(String(execFileSync('patroni', ['--version']))) ?? [];
  if (Number(major) * 1e6 + Number(minor) * 1e3 + Number(patch) < 3_000_003) return 'Patroni is older than 3.0.3';
  return undefined;
}

async function placeHold({ probe }: Obedient, successes: number[]): Promise<void> {
  const { story } = await probe();
  if (story.at(-1)?.startsWith('hold 201')) successes.push(performance.now());
}

/** Returns the longest time without a success while the part is away, and when it has come back. */
async function lose(loss: Loss, cluster: Cluster, merchants: Obedient): Promise<string> {
  await cluster.standby();
  const successes: number[] = [];
  const timer = setInterval(() => placeHold(merchants, successes), 100);
  try {
    await delay(QUIET_MS);
    const [first, startedMs] = [successes.length - 1, performance.now()];
    const mend = await loss(cluster);
    const isServing = () => performance.now() - (successes.at(-1) ?? 0) < 1_000;
    while (!isServing() || performance.now() - startedMs < AWAY_MS) await delay(100);
    const last = successes.length - 1;
    await mend();
    await delay(QUIET_MS);
    await cluster.standby();
    await delay(QUIET_MS);
    const [away, back] = [longestPause(successes.slice(first, last + 1)), longestPause(successes.slice(last))];
    return `no success for ${seconds(away)}, and for ${seconds(back)} when all was there again`;
  } finally {
    clearInterval(timer);
  }
}

const QUIET_MS = 4_000;
const AWAY_MS = 15_000;

function longestPause(times: readonly number[]): number {
  return Math.max(...times.slice(1).map((time, index) => time - (times[index] as number)));
}
