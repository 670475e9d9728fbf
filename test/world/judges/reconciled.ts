/** What was lost with the database's time, after an operator has reconciled it. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry } from '../../../services/sandbox/ledger/entry.ts';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import { command } from '../faults/ways-back.ts';
import type { Caller } from '../merchants/caller.ts';
import { type Customers, type Deed, type Story, untilAnswered } from '../merchants/customers.ts';
import type { ResultWatcher } from '../merchants/result-watcher.ts';
import type { Scene } from '../play.ts';
import type { Pair } from '../stage/pair.ts';
import { untilDelivered, untilSettled } from './settled.ts';
import { entriesOf, untrueOf, wronglyTold } from './truth.ts';

type Returned = Scene<Pair, Customers>;

/**
 * No repeated key charges again, each act is told once and truly, each stream is told, and the audit is clean after
 * reconciling.
 */
export async function reconciled(scene: Returned): Promise<string> {
  const { stage, merchants } = scene;
  const { caller } = merchants;
  const { here, there, stories, watchers, before } = merchants.round ?? assert.fail('nothing went back');
  const deeds = stories.flatMap((story) => story.deeds);
  const lost = await lostOf(stage, stories);
  const isLost = (deed: Deed) => lost.has(deed);
  const told = await untilAllTold(watchers);
  const refusedAt = await resume(scene, watchers[0]?.token() ?? '');
  assert(lost.size > 0, 'the round must lose something to show anything');
  const repeated = stories.filter((story) => story.deeds.some(isLost) && story.deeds[0]?.key !== undefined);
  for (const { merchantId } of merchants.merchants) await stage.move(merchantId, there);
  const early = await repeatTooEarly(caller, repeated, isLost);
  await untilSettled(stage, 60_000, { isReconciling: true });
  const unknown = (await stage.audit(10_000)).length;
  const reconciled = await reconcile(stage);
  const after = await repeatAll(caller, repeated);
  await untilSettled(stage, 60_000);
  await untilPaidIsKnown(stage);
  const drifts = await stage.audit();
  const entries = entriesOf(stage);
  const doubled = doubledOf(entries, stories);
  const refunds = entries.filter(({ kind, requestId }) => kind === 'refund' && !before.has(requestId));
  const untrue = await untrueOf(caller, stories, entries);
  const undelivered = await untilDelivered(stage);
  const ids = new Set([...lost].map(({ requestId }) => requestId));
  const notified = wronglyTold(stage.received, stories, entries, (requestId) => ids.has(requestId));
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
    `0 of ${stories.length} customers told an untruth`,
    `${notified.acts} acts of the processors notified under one requestId each`,
    `${notified.again} lost ones again as imported; ${whatEnded(entries, before, stories)}`,
    `${unknown} drifts before, ${reconciled}, ${drifts.length} drifts after`,
  ].join(', ');
  assert.deepEqual(wrong, [], line);
  return line;
}

/** The deeds answered as done that the database no longer has. */
async function lostOf(deployment: Pair, stories: readonly Story[]): Promise<ReadonlySet<Deed>> {
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
async function resume({ stage, merchants }: Returned, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${merchants.merchants[0]?.apiKey}`, 'last-event-id': token };
  const response = await fetch(`${stage.baseUrl}/operations/stream`, { headers });
  await response.body?.cancel();
  return response.status;
}

/**
 * Merchants repeat what they did, while the database is being reconciled: what is lost is refused, and nothing is done.
 * The event about a paid checkout may have imported it already, which is then answered as first.
 */
async function repeatTooEarly(caller: Caller, stories: readonly Story[], isLost: (deed: Deed) => boolean) {
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
async function repeatAll(caller: Caller, stories: readonly Story[]) {
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
  const isOnce = ({ kind, renews }: Entry) => kind !== 'void' && kind !== 'refund' && renews === '';
  const done = entries.filter((entry) => entry.answer === Answer.APPROVED && isOnce(entry));
  const ofUser = Map.groupBy(done, ({ userId }) => userId);
  return stories.flatMap(({ userId }) => {
    const marks = (ofUser.get(userId) ?? []).map(({ kind, amount }) => `${kind} ${amount}`);
    return marks
      .filter((mark, index) => marks.indexOf(mark) !== index)
      .map((mark) => `${mark} of ${userId} was done twice`);
  });
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
async function reconcile(deployment: Pair): Promise<string> {
  const startedMs = performance.now();
  const output = await command(deployment, 'reconcile', '--import', 'all', '--end', '--operator', 'ann');
  const [, imported = '', left = ''] = / (\d+) imported, \d+ closed or refunded, (\d+) unknown here/.exec(output) ?? [];
  assert.equal(left, '0', output);
  return `${imported} imported in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`;
}
