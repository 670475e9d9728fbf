/**
 * The database goes back in time, by a restored backup and by a fail-over to an asynchronous standby, and what it lost
 * is reconciled.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry } from '../../services/sandbox/ledger/entry.ts';
import { untilDelivered, untilSettled } from '../world/judges/settled.ts';
import { chance } from './chance.ts';
import { type Deployment, type Merchant, openDeployment } from './deployment/deployment.ts';
import { type ResultWatcher, watchResults } from './deployment/result-watcher.ts';
import { type PostgresPair, startPostgresPair } from './failover/postgres-pair.ts';
import { type Caller, openCaller } from './obedient/caller.ts';
import type { TortureOptions } from './options.ts';
import { type Deed, type Story, startTraffic, type Traffic, untilAnswered } from './restore/traffic.ts';
import { entriesOf, untrueOf, wronglyTold } from './restore/truth.ts';

interface Scene {
  readonly deployment: Deployment;
  readonly pair: PostgresPair;
  readonly caller: Caller;
  readonly merchants: readonly Merchant[];
}

/**
 * A way back. It keeps traffic running for a while whose results are lost, and resolves when calls are served again.
 */
type WayBack = (scene: Scene, loseSome: () => Promise<void>) => Promise<void>;

const WAYS_BACK: Readonly<Record<string, WayBack>> = {
  async 'a backup was restored'({ deployment, pair }, loseSome) {
    await pair.backUp();
    await loseSome();
    const { gateway, worker, cores } = deployment;
    for (const member of [gateway, worker, ...cores]) await member.stop();
    await pair.restore();
    await command(deployment, 'restored', '--operator', 'ann');
    for (const member of [...cores, worker, gateway]) await member.start();
  },
  async 'an asynchronous standby took over'({ deployment, pair }, loseSome) {
    pair.primary().wire.cut();
    await loseSome();
    await pair.primary().member.kill();
    await pair.promote();
    await command(deployment, 'restored', '--operator', 'ann');
  },
};

/**
 * Plays rounds, in turn by each way back. Returns figures; throws when a repeated key charges again, an act is not told or told as another one, a stream is not told, or the
 * audit is not clean after reconciling.
 */
export async function tortureRestore({ seed, runs = 6, tell = () => undefined }: TortureOptions): Promise<string[]> {
  let pair: PostgresPair | undefined;
  const deployment = await openDeployment(
    { ann: true, bob: false },
    {
      withOtherProcessor: true,
      environment: { SYNCHRONOUS_STANDBY: 'false' },
      async startDatabase(server) {
        pair = await startPostgresPair(server);
        return pair;
      },
    },
  );
  const caller = openCaller(deployment.baseUrl);
  try {
    assert(pair);
    const scene: Scene = { deployment, pair, caller, merchants: [...deployment.merchants.values()] };
    const random = chance(seed);
    const lines: string[] = [];
    const ways = Object.entries(WAYS_BACK);
    for (let round = 0; round < runs; round++) {
      const [name, goBack] = ways[round % ways.length] as (typeof ways)[number];
      const line = await play(scene, goBack, random);
      lines.push(`${name}: ${line}`);
      tell(`round ${round + 1}: ${lines.at(-1)}`);
      if (round < runs - 1) await pair.rebuild();
    }
    return lines;
  } finally {
    await caller.close();
    await deployment.close();
  }
}

async function play(scene: Scene, goBack: WayBack, random: () => number): Promise<string> {
  const { deployment, caller } = scene;
  await scene.pair.relax();
  const [here, there] = random() < 0.5 ? (['sandbox', 'other'] as const) : (['other', 'sandbox'] as const);
  for (const { merchantId } of scene.merchants) await deployment.move(merchantId, here);
  // Core may use the old contract for a second.
  await delay(1_100);
  const traffic = startTraffic(caller, scene.merchants, random);
  const watchers = await Promise.all(deployment.cores.map((_, index) => watchResults(deployment.openCore(index))));
  await delay(3_000);
  await letEnd(deployment, traffic.stories, random);
  const before = new Set(entriesOf(deployment).map(({ requestId }) => requestId));
  await goBack(scene, () => loseSome(traffic, 2_000 + random() * 2_000));
  await traffic.stop();
  const deeds = traffic.stories.flatMap((story) => story.deeds);
  const lost = await lostOf(scene, traffic);
  const isLost = (deed: Deed) => lost.has(deed);
  const told = await untilAllTold(watchers);
  const refusedAt = await resume(scene, watchers[0]?.token() ?? '');
  assert(lost.size > 0, 'the round must lose something to show anything');
  const stories = traffic.stories.filter((story) => story.deeds.some(isLost) && story.deeds[0]?.key !== undefined);
  for (const { merchantId } of scene.merchants) await deployment.move(merchantId, there);
  const early = await repeatTooEarly(scene, stories, isLost);
  await untilSettled(deployment, 60_000);
  const unknown = (await deployment.audit(10_000)).length;
  const reconciled = await reconcile(scene);
  const after = await repeatAll(scene, stories);
  await untilSettled(deployment, 60_000);
  await untilPaidIsKnown(deployment);
  const drifts = await deployment.audit();
  const entries = entriesOf(deployment);
  const doubled = doubledOf(entries, traffic.stories);
  const refunds = entries.filter(({ kind, requestId }) => kind === 'refund' && !before.has(requestId));
  const untrue = await untrueOf(caller, traffic.stories, entries);
  const undelivered = await untilDelivered(deployment);
  const ids = new Set([...lost].map(({ requestId }) => requestId));
  const notified = wronglyTold(deployment.received, traffic.stories, entries, (requestId) => ids.has(requestId));
  const wrong = [
    ...early.wrong,
    ...after.wrong,
    ...drifts.map((drift) => JSON.stringify(drift)),
    ...doubled,
    ...untrue,
    ...notified.wrong,
    ...(undelivered === 0 ? [] : [`${undelivered} notifications are not delivered`]),
    ...refunds.map(({ requestId }) => `nobody asked for the refund ${requestId}`),
    ...(told === watchers.length ? [] : [`${watchers.length - told} streams were not told`]),
    ...(refusedAt === 410 ? [] : [`a stream that resumes was answered ${refusedAt}`]),
  ];
  const line = [
    `${deeds.length} calls, ${lost.size} acknowledged operations lost`,
    `${told} of ${watchers.length} streams told and a resumed one answered ${refusedAt}`,
    `${early.refused} calls refused before reconciling, ${early.back} checkouts back by their events`,
    `contracts moved from ${here} to ${there}`,
    `${after.done} keys repeated after, each answered as first: 0 charged again, 0 under two requestIds`,
    `0 of ${traffic.stories.length} customers told an untruth`,
    `${notified.acts} acts of the processors notified under one requestId each`,
    `${notified.again} lost ones again as imported; ${whatEnded(entries, before, traffic.stories)}`,
    `${unknown} drifts before, ${reconciled}, ${drifts.length} drifts after`,
  ].join(', ');
  assert.deepEqual(wrong, [], line);
  return line;
}

/** What is done in this time is lost, and so much at least that it was not all under way before. */
async function loseSome({ stories, lanes }: Traffic, forMs: number): Promise<void> {
  const done = () =>
    stories.flatMap(({ deeds }) => deeds).filter(({ kind, requestId }) => kind !== 'release' && requestId).length;
  const goal = done() + lanes + 1;
  await delay(forMs);
  while (done() < goal) await delay(20);
}

/** The deeds answered as done that the database no longer has. */
async function lostOf({ deployment }: Scene, { stories }: Traffic): Promise<ReadonlySet<Deed>> {
  const rows = await deployment.sql<{ request_id: string }>(
    'select request_id from hold union all select request_id from submission',
  );
  const known = new Set(rows.map(({ request_id }) => request_id));
  const done = stories.flatMap(({ deeds }) => deeds).filter(({ requestId }) => requestId !== undefined);
  return new Set(done.filter(({ requestId = '', kind }) => kind !== 'release' && !known.has(requestId)));
}

/**
 * Waits for checkouts that were paid, for a minute at most: an event that met a stopped core comes again ever later.
 */
async function untilPaidIsKnown(deployment: Deployment): Promise<void> {
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 500) {
    const open = await deployment.sql<{ user_id: string }>(OPEN_CHECKOUTS);
    const paid = entriesOf(deployment).filter(({ kind, answer }) => kind === 'checkout' && answer === Answer.APPROVED);
    const users = new Set(paid.map(({ userId }) => userId));
    if (!open.some(({ user_id }) => users.has(user_id))) return;
    await delay(500);
  }
}

const OPEN_CHECKOUTS = "select user_id from hold where phase = 'AWAITING_CHECKOUT'";

async function untilAllTold(watchers: readonly ResultWatcher[]): Promise<number> {
  const toldNow = () => watchers.filter(({ isGone }) => isGone()).length;
  for (let waitedMs = 0; toldNow() < watchers.length && waitedMs < 20_000; waitedMs += 100) await delay(100);
  for (const watcher of watchers) await watcher.stop();
  return toldNow();
}

/** The status of a REST stream that resumes from a lost result. */
async function resume({ deployment, merchants }: Scene, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${merchants[0]?.apiKey}`, 'last-event-id': token };
  const response = await fetch(`${deployment.baseUrl}/operations/stream`, { headers });
  await response.body?.cancel();
  return response.status;
}

/**
 * Merchants repeat what they did, while the database is being reconciled: what is lost is refused, and nothing is done.
 * The event about a paid checkout may have imported it already, which is then answered as first.
 */
async function repeatTooEarly({ caller }: Scene, stories: readonly Story[], isLost: (deed: Deed) => boolean) {
  const seen = { refused: 0, back: 0, wrong: [] as string[] };
  for (const story of stories) {
    for (const deed of story.deeds.filter(isLost)) {
      const { status, body } = await caller.send({ ...deed, apiKey: deed.merchant.apiKey });
      if (status === 503 && body.code === 'RECONCILING') seen.refused++;
      else if (status === 201 && deed.kind === 'checkout' && body.requestId === deed.requestId) seen.back++;
      else seen.wrong.push(`a lost ${deed.kind} repeated before reconciling: ${status} ${body.code}`);
    }
  }
  return seen;
}

/**
 * Merchants repeat what they did for a customer, byte for byte: each answer is the first one, about the same operation.
 */
async function repeatAll({ caller }: Scene, stories: readonly Story[]) {
  const seen = { done: 0, wrong: [] as string[] };
  for (const story of stories) {
    for (const deed of story.deeds) {
      if (deed.requestId === undefined) continue;
      const { status, body } = await untilAnswered(caller, deed, deed.body);
      const isFirst =
        body.requestId === deed.requestId && (deed.kind !== 'hold' || body.preauthorizationId === story.handle);
      if ((status === 200 || status === 201) && isFirst) seen.done++;
      else if (status === 200 || status === 201) seen.wrong.push(`${deed.kind} repeated is told as another one`);
      // A checkout that was lost while it was open is closed, which its hold says.
      else if (body.processorCode === 'given_back' && isFirst && deed.kind === 'checkout') seen.done++;
      else seen.wrong.push(`${deed.kind} repeated: ${status} ${body.code} ${body.processorCode ?? ''}`);
    }
  }
  return seen;
}

/** What the processor did more than once for one customer. */
function doubledOf(entries: readonly Entry[], stories: readonly Story[]): string[] {
  const done = entries.filter(({ answer, kind }) => answer === Answer.APPROVED && kind !== 'void' && kind !== 'refund');
  const ofUser = Map.groupBy(done, ({ userId }) => userId);
  return stories.flatMap(({ userId }) => {
    const marks = (ofUser.get(userId) ?? []).map(({ kind, amount }) => `${kind} ${amount}`);
    return marks
      .filter((mark, index) => marks.indexOf(mark) !== index)
      .map((mark) => `${mark} of ${userId} was done twice`);
  });
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

/** How many holds ended by themselves, and checkouts were paid, since the processors' books were looked at. */
function whatEnded(entries: readonly Entry[], before: ReadonlySet<string>, stories: readonly Story[]): string {
  const ending = new Set(stories.filter(({ ends }) => ends).map(({ userId }) => userId));
  const authorizations = new Map(entries.map((entry) => [entry.requestId, entry]));
  const ended = entries.filter(({ kind, requestId, authorizationRequestId }) => {
    const { userId = '' } = authorizations.get(authorizationRequestId) ?? {};
    return kind === 'void' && !before.has(requestId) && ending.has(userId);
  });
  const paid = entries.filter(({ kind, answer }) => kind === 'checkout' && answer === Answer.APPROVED);
  return `${ended.length} holds ended and ${paid.length} checkouts paid`;
}

/** An operator imports everything. */
async function reconcile({ deployment }: Scene): Promise<string> {
  const startedMs = performance.now();
  const output = await command(deployment, 'reconcile', '--import', 'all', '--end', '--operator', 'ann');
  const [, imported = '', left = ''] = / (\d+) imported, \d+ closed or refunded, (\d+) unknown here/.exec(output) ?? [];
  assert.equal(left, '0', output);
  return `${imported} imported in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`;
}

/** Runs a command of core's as an operator does. */
function command(
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
