/** The database's machine is lost under load, repeatedly, and its standby promoted. */
import { setTimeout as delay } from 'node:timers/promises';
import { untilDelivered } from '../world/judges/settled.ts';
import { watchResults } from './deployment/result-watcher.ts';
import { loseThePrimary, missTheStandby, WAYS_TO_LOSE } from './failover/lose-the-primary.ts';
import { type PostgresPair, startPostgresPair } from './failover/postgres-pair.ts';
import type { Fault, Scene } from './obedient/faults.ts';
import { planRounds } from './obedient/rounds.ts';
import { playRounds } from './obedient.ts';
import type { TortureOptions } from './options.ts';

/**
 * Loses the primary in each of the ways in turn, while clients obey every answer. Returns figures; throws when an
 * acknowledged operation is lost or done twice, a stream has a gap, a notification is missing or the books do not
 * balance.
 */
export async function tortureFailover({ runs = 10, ...options }: TortureOptions): Promise<string[]> {
  let pair: PostgresPair | undefined;
  const pairOf = () => pair as PostgresPair;
  const lost = Object.entries(WAYS_TO_LOSE).map(([name, lose]): [string, Fault] => [
    `primary ${name}`,
    { target: 'database', longestMs: 4_000, run: loseThePrimary(pairOf, lose) },
  ]);
  const missed = { target: 'database', shortestMs: 9_000, longestMs: 15_000, run: missTheStandby(pairOf) };
  const faults: Readonly<Record<string, Fault>> = { ...Object.fromEntries(lost), 'standby out of reach': missed };
  return await playRounds(options, {
    by: 'table',
    rounds: planRounds(options.seed, runs, faults),
    startDatabase: async (server) => {
      pair = await startPostgresPair(server);
      return pair;
    },
    watch: watchEverything,
  });
}

/** Streams at both cores, and the receiver of notifications. */
async function watchEverything({ deployment }: Scene): Promise<() => Promise<string[]>> {
  const watchers = await Promise.all(deployment.cores.map((_, index) => watchResults(deployment.openCore(index))));
  return async () => {
    const undelivered = await untilDelivered(deployment);
    const all = (await deployment.sql<{ request_id: string }>(RESULTS)).map(({ request_id }) => request_id);
    const wrong: string[] = [];
    for (const [index, { seen, stop, resumed }] of watchers.entries()) {
      for (let waitedMs = 0; seen.at(-1) !== all.at(-1) && waitedMs < 10_000; waitedMs += 100) await delay(100);
      await stop();
      const expected = all.slice(all.indexOf(seen[0] ?? ''));
      const at = expected.findIndex((requestId, position) => seen[position] !== requestId);
      if (seen.length === expected.length && at === -1) continue;
      wrong.push(
        `stream ${index + 1}, resumed ${resumed()} times: ${seen.length} results of ${expected.length}, other than ` +
          `expected from ${at} on`,
      );
    }
    const notified = await deployment.sql<{ request_id: string }>(NOTIFIED);
    const missing = notified.filter(({ request_id }) => !deployment.received.has(request_id));
    if (undelivered > 0) wrong.push(`${undelivered} deliveries are not delivered`);
    if (notified.length < all.length) wrong.push(`${all.length} operations and only ${notified.length} deliveries`);
    if (missing.length > 0)
      wrong.push(`${missing.length} notifications never arrived, first ${missing[0]?.request_id}`);
    return wrong;
  };
}

const RESULTS = 'select request_id from operation order by sequence';
const NOTIFIED = "select request_id from delivery where endpoint_kind = 'webhook'";
