/** The database goes back in time under load, by a restored backup and by a fail-over to an asynchronous standby. */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import { entriesOf } from '../judges/truth.ts';
import { type Customers, type Story, startTraffic, type Traffic } from '../merchants/customers.ts';
import { watchEach } from '../merchants/result-watcher.ts';
import type { Fault } from '../play.ts';
import type { Pair } from '../stage/pair.ts';

/**
 * A way back. It keeps traffic running for a while whose results are lost, and resolves when calls are served again.
 */
type WayBack = (stage: Pair, loseSome: () => Promise<void>) => Promise<void>;

const WAYS_BACK: Readonly<Record<string, WayBack>> = {
  async 'a backup was restored'(stage, loseSome) {
    const { pair, gateway, worker, cores } = stage;
    await pair.backUp();
    await loseSome();
    for (const member of [gateway, worker, ...cores]) await member.stop();
    await pair.restore();
    await command(stage, 'restored', '--operator', 'ann');
    for (const member of [...cores, worker, gateway]) await member.start();
  },
  async 'an asynchronous standby took over'(stage, loseSome) {
    const { pair } = stage;
    pair.primary().wire.cut();
    await loseSome();
    await pair.primary().member.kill();
    await pair.promote();
    await command(stage, 'restored', '--operator', 'ann');
  },
};

export const waysBack = Object.entries(WAYS_BACK).map(
  ([name, goBack]): Fault<Pair, Customers> => ({
    name,
    async strike({ stage, merchants, random }) {
      if (merchants.round) await stage.pair.rebuild();
      await stage.pair.relax();
      const [here, there] = random() < 0.5 ? (['sandbox', 'other'] as const) : (['other', 'sandbox'] as const);
      for (const { merchantId } of merchants.merchants) await stage.move(merchantId, here);
      // Core may use the old contract for a second.
      await delay(1_100);
      const traffic = startTraffic(merchants.caller, merchants.merchants, random);
      const watchers = await watchEach(stage);
      await delay(3_000);
      await letEnd(stage, traffic.stories, random);
      const before = new Set(entriesOf(stage).map(({ requestId }) => requestId));
      await goBack(stage, () => loseSome(traffic, 2_000 + random() * 2_000));
      await traffic.stop();
      merchants.round = { here, there, stories: traffic.stories, watchers, before };
      return { what: `${traffic.stories.length} customers` };
    },
  }),
);

/** What is done in this time is lost, and so much at least that it was not all under way before. */
async function loseSome({ stories, lanes }: Traffic, forMs: number): Promise<void> {
  const done = () =>
    stories.flatMap(({ deeds }) => deeds).filter(({ kind, requestId }) => kind !== 'release' && requestId).length;
  const goal = done() + lanes + 1;
  await delay(forMs);
  while (done() < goal) await delay(20);
}

/** Lets holds end in the next seconds, most of them while what is done is lost. */
async function letEnd(deployment: Deployment, stories: readonly Story[], random: () => number): Promise<void> {
  for (const { userId } of stories.filter(({ ends }) => ends)) {
    await deployment.sql(
      `update hold set expires_at = now() + interval '${500 + random() * 6_000} ms' where user_id = '${userId}' and
        phase = 'AUTHORIZED'`,
    );
  }
}

/** Runs a command of core's as an operator does. */
export function command(
  { database, processor, encryptionKeys }: Deployment,
  name: string,
  ...args: string[]
): Promise<string> {
  const env = {
    ...process.env,
    DATABASE_URL: database.url,
    ENCRYPTION_KEYS: encryptionKeys,
    PROCESSORS: processor.PROCESSORS.map((each) => `${each.name}=${each.address}`).join(','),
    PROCESSOR_SANDBOX_CREDENTIAL: processor['PROCESSOR_<NAME>_CREDENTIAL'].SANDBOX,
    PROCESSOR_OTHER_CREDENTIAL: processor['PROCESSOR_<NAME>_CREDENTIAL'].OTHER,
  };
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [
        `services/core/${name}.ts`,
        ...args,
        ...(name === 'reconcile' ? ['--report', `${tmpdir()}/holdfast-reports-${process.pid}`] : []),
      ],
      { env, maxBuffer: 2 ** 26 },
      (_, out, error) => (child.exitCode === 2 ? reject(new Error(error)) : resolve(out)),
    );
  });
}
