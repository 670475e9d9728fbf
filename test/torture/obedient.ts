/** Clients that obey every answer, while everything between them and the card is frozen, killed, cut and overloaded. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { untilSettled } from '../world/judges/settled.ts';
import { chance } from './chance.ts';
import { type DeploymentOptions, type Merchant, openDeployment } from './deployment/deployment.ts';
import { openCaller } from './obedient/caller.ts';
import { openClient } from './obedient/client.ts';
import type { Scene } from './obedient/faults.ts';
import { openJudge } from './obedient/judge.ts';
import { openPythonClient } from './obedient/python.ts';
import { faultsOf, type Planned, planRounds } from './obedient/rounds.ts';
import { holdOf, openStoryteller } from './obedient/stories.ts';
import type { TortureOptions } from './options.ts';

/**
 * The package of merchants (client/), which repeats what a broken connection leaves unanswered; the gateway is killed,
 * too.
 */
export const tortureObedient = (options: TortureOptions) => torture('package', options);
/** The same in Python. */
export const tortureObedientPython = (options: TortureOptions) =>
  torture('python', { ...options, runs: options.runs ?? 10 });
/** A client that keeps a key and takes the table of answers literally. */
export const tortureObedientKeyed = (options: TortureOptions) => torture('keyed table', options);
/** A client without keys that takes the table of answers literally: no connection of a client is broken. */
export const tortureObedientUnkeyed = (options: TortureOptions) => torture('table', options);

function torture(by: Play['by'], { runs = 50, ...options }: TortureOptions) {
  return playRounds(options, { by, rounds: planRounds(options.seed, runs, faultsOf(by !== 'table')) });
}

/** What to play. */
export interface Play {
  /** Who obeys. */
  readonly by: 'package' | 'python' | 'table' | 'keyed table';
  readonly rounds: readonly (readonly Planned[])[];
  readonly startDatabase?: DeploymentOptions['startDatabase'];
  /**
   * Starts to watch before the load does. Returns a function that runs after everything has settled, and returns a line
   * for each fault found.
   */
  readonly watch?: (scene: Scene) => Promise<() => Promise<string[]>>;
}

/** Plays rounds of faults. Returns figures; throws when anything is done twice, lost or unexplained. */
export async function playRounds(
  { seed, tell = () => undefined }: TortureOptions,
  { by, rounds, startDatabase, watch = async () => async () => [] }: Play,
): Promise<string[]> {
  const stage = await openStage(seed, by, startDatabase);
  try {
    const { scene, judge } = stage;
    const shown = new Map<string, string[]>();
    const watched = await watch(scene);
    const load = scene.stories.start(STORY_EVERY_MS, STORIES_AT_ONCE);
    for (const [index, round] of rounds.entries()) {
      await play(scene, round, (name, what) => {
        shown.set(name, [...(shown.get(name) ?? []), ...(what === undefined ? [] : [what])]);
        tell(`round ${index + 1}: ${name} ${what ?? 'did not happen'}`);
      });
      const recoveredMs = await untilServing(scene);
      judge.judgeNew();
      tell(`round ${index + 1}: served again after ${recoveredMs} ms; ${stage.summary()}`);
    }
    await load.stop();
    await untilDecided(scene);
    const { sql } = scene.deployment;
    // Includes operations that no client waits for any more.
    await untilSettled({ sql }, DECIDED_WITHIN_MS);
    judge.judgeAll();
    const results = await sql<{ request_id: string; status: string; reference: string | null }>(
      'select request_id, status, merchant_reference as reference from operation',
    );
    judge.judgeBooks(new Map(results.map(({ request_id, ...result }) => [request_id, result])));
    return await stage.conclude(shown, await watched());
  } finally {
    await stage.close();
  }
}

const LITERAL: Partial<Record<Play['by'], 'TABLE' | 'KEYED_TABLE'>> = { table: 'TABLE', 'keyed table': 'KEYED_TABLE' };

/** About 60 writes a second; some hundred accumulate while they wait for an inquiry. */
const STORY_EVERY_MS = 110;
const STORIES_AT_ONCE = 300;

async function openStage(seed: number, by: Play['by'], startDatabase?: DeploymentOptions['startDatabase']) {
  const merchantsOf = { ann: true, bob: true, cleo: false, flood1: true, flood2: true, probe: true };
  const deployment = await openDeployment(merchantsOf, startDatabase && { startDatabase });
  const caller = openCaller(deployment.baseUrl);
  const frozenMs: (readonly [number, number])[] = [];
  const excusedMs = ({ startedMs, tookMs }: { startedMs: number; tookMs: number }) =>
    frozenMs.reduce(
      (sum, [from, to]) => sum + Math.max(0, Math.min(to, startedMs + tookMs) - Math.max(from, startedMs)),
      0,
    );
  const python = by === 'python' ? await openPythonClient(caller) : undefined;
  const client = openClient(caller, python ?? LITERAL[by] ?? 'PACKAGE', excusedMs);
  const named = (...names: string[]) => names.map((name) => deployment.merchants.get(name) as Merchant);
  const merchants = named('ann', 'bob', 'cleo');
  const stories = openStoryteller(client, merchants, chance(seed));
  const scene: Scene = {
    deployment,
    caller,
    client,
    stories,
    merchants,
    floods: named('flood1', 'flood2'),
    holdsPerSecond: 0,
    excuse: (from, to) => frozenMs.push([from, to]),
  };
  const judge = openJudge(deployment.ledgerFile, client.told);
  const { doubled, lost } = judge.findings;
  const unexplained = () => [...client.unexplained.values()].reduce((sum, stories) => sum + stories.length, 0);
  const summary = () =>
    `${client.told.length} intentions, ${client.open()} open; ${doubled.size} doubled, ${lost.size} lost, ` +
    `${unexplained()} unexplained`;
  return {
    scene: { ...scene, holdsPerSecond: await measure(scene) },
    judge,
    summary,
    async conclude(shown: ReadonlyMap<string, readonly string[]>, alsoWrong: readonly string[]): Promise<string[]> {
      const drifts = await deployment.audit();
      const missing = [...shown].flatMap(([name, times]) => (times.length === 0 ? [`${name} never happened`] : []));
      const lines = [
        ...[...client.answers].sort().map(([what, count]) => `${String(count).padStart(7)} × ${what}`),
        ...[...shown]
          .sort()
          .map(([name, times]) => `${String(times.length).padStart(7)} × ${name}: ${times.join(' | ')}`),
        ...examples('doubled', [...doubled.values()]),
        ...examples('lost', [...lost.values()]),
        ...[...client.unexplained].flatMap(([what, stories]) =>
          examples(`unexplained, ${stories.length} × ${what}`, stories, 2),
        ),
        ...examples('drift', drifts),
        ...examples('fault', missing),
        ...examples('wrong', alsoWrong),
        `by the ${by}; ${summary()}; ${drifts.length} drifts in the books`,
      ];
      const wrong = alsoWrong.length + missing.length + doubled.size + lost.size + unexplained() + drifts.length;
      assert.equal(wrong, 0, lines.join('\n'));
      return lines;
    },
    async close(): Promise<void> {
      judge.close();
      await python?.close();
      await caller.close();
      await deployment.close();
    },
  };
}

const EXAMPLES = 8;
function examples(what: string, lines: readonly string[], most = EXAMPLES): string[] {
  return lines.slice(0, most).map((line) => `${what}: ${line}`);
}

/** Holds per second that 32 lanes of one merchant get placed. */
async function measure({ client, floods, stories }: Scene): Promise<number> {
  const endMs = performance.now() + 2_000;
  let placed = 0;
  const lanes = Array.from({ length: 32 }, async () => {
    while (performance.now() < endMs) {
      await client.want(holdOf(floods[0] as Merchant, stories.nextUser(), 'tok_sandbox_ok'));
      placed++;
    }
  });
  await Promise.all(lanes);
  return placed / 2;
}

async function play(
  scene: Scene,
  round: readonly Planned[],
  show: (name: string, what: string | undefined) => void,
): Promise<void> {
  const running = round.map(async ({ name, fault, startMs, durationMs, random }) => {
    await delay(startMs);
    show(name, await fault.run(scene, durationMs, random));
  });
  const failed = (await Promise.allSettled(running)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Waits until the service is ready and places a hold within a second. Returns how long that took, in milliseconds. */
export async function untilServing({ deployment, caller, client, stories }: Scene): Promise<number> {
  const probe = deployment.merchants.get('probe') as Merchant;
  const startedMs = performance.now();
  for (;;) {
    const askedMs = performance.now();
    const { status } = await caller.send({ apiKey: '', path: '/readyz' });
    const placed = status === 200 && (await client.want(holdOf(probe, stories.nextUser(), 'tok_sandbox_ok'), 0));
    const nowMs = performance.now();
    if (placed && placed.outcome === 'done' && nowMs - askedMs < 1_000) return Math.round(nowMs - startedMs);
    assert(
      nowMs - startedMs < RECOVERED_WITHIN_MS,
      `the service does not serve again: ${placed ? placed.story.join('; ') : 'not ready'}`,
    );
    await delay(250);
  }
}

const RECOVERED_WITHIN_MS = 90_000;

/** Floods may leave intentions that are still asked about. */
async function untilDecided({ client }: Scene): Promise<void> {
  for (let waitedMs = 0; client.open() > 0; waitedMs += 250) {
    assert(waitedMs < DECIDED_WITHIN_MS, `${client.open()} intentions have no outcome`);
    await delay(250);
  }
}

const DECIDED_WITHIN_MS = 180_000;
