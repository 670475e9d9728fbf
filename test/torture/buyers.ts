/** Constantly active buyers of a merchant, at one core whose processes can be killed. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { PreauthorizationService } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { openOracle } from '../services/sandbox/oracle.ts';
import { type Deployment, openDeployment } from './deployment/deployment.ts';

export type House = Awaited<ReturnType<typeof openHouse>>;

/** Starts the core with its worker and processor, and a client of it. */
export async function openHouse() {
  const options = { cores: 1, environment: { PROCESSOR_TIMEOUT_MS: '1000' } };
  const deployment = await openDeployment({ acme: true }, options);
  const channel = deployment.openCore();
  return {
    ...deployment,
    holds: channel.client(PreauthorizationService),
    async close(): Promise<void> {
      channel.close();
      await deployment.close();
    },
  };
}

/** A hold, and the answers that its buyer got. */
export interface Bought {
  readonly requestId: string;
  readonly amount: number;
  readonly plan: Plan;
  /** One for each wanted capture, acknowledged or not. */
  readonly wanted: Wanted[];
}

interface Wanted {
  /** The capture's requestId, once it was answered as done. */
  acknowledged: string | undefined;
  /** Repeats the capture under its key while core is down. */
  ask(): Promise<void>;
}

/** What becomes of what a buyer leaves of a hold, by itself. */
type Plan = 'nothing' | 'captured' | 'expired' | 'renewed';
const PLANS: readonly Plan[] = ['nothing', 'nothing', 'captured', 'expired', 'renewed'];

/** Buyers who place holds, capture them in parts, and repeat unanswered calls under the same key. */
export function startBuyers(house: House, count: number) {
  const bought: Bought[] = [];
  let stopped = false;
  let serial = 0;
  let answered = 0;
  /** Repeats while core is down. Undefined = refused, or told to retry later. */
  async function ask<T>(call: () => Promise<T>): Promise<T | undefined> {
    for (let tries = 0; tries < 200; tries++) {
      try {
        return await call();
      } catch (error) {
        const { code } = error as { code: number };
        assert(code !== INTERNAL, `core had an unexpected error: ${(error as Error).message}`);
        if (![UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED].includes(code)) return undefined;
        await delay(50);
      }
    }
    return undefined;
  }
  async function buy(): Promise<void> {
    const mine = serial++;
    const common = { merchantId: 'acme', tokenId: 'tok_sandbox_ok', currency: 'EUR', terminalId: 'T1', userId: 'u' };
    const plan = PLANS[mine % PLANS.length] ?? 'nothing';
    const soon = timestampFromMs(Date.now() + SOON_MS);
    const times = { ...(plan === 'captured' && { captureAt: soon }), ...(plan === 'expired' && { releaseAt: soon }) };
    const place = { ...common, ...times, amount: BigInt(AMOUNT), idempotencyKey: `place-${mine}` };
    const placed = await ask(() => house.holds.createPreauthorization(place));
    const { preauthorizationId = '', requestId = '' } = placed?.preauthorization ?? {};
    if (preauthorizationId === '') return;
    const wanted = PARTS.slice(0, plan === 'nothing' ? undefined : 1).map((part, index): Wanted => {
      const idempotencyKey = `capture-${mine}-${index}`;
      const capture = { merchantId: 'acme', preauthorizationId, amountToCapture: BigInt(part), idempotencyKey };
      return {
        acknowledged: undefined,
        async ask() {
          const answer = await ask(() => house.holds.capturePreauthorization(capture));
          if (answer?.capture?.captureDate) this.acknowledged = answer.capture.requestId;
          if (answer) answered++;
        },
      };
    });
    bought.push({ requestId, amount: AMOUNT, plan, wanted });
    await Promise.all(wanted.map((want) => want.ask()));
    if (plan !== 'renewed') return;
    const renewal = { merchantId: 'acme', requestId, amount: BigInt(AMOUNT), idempotencyKey: `renew-${mine}` };
    await ask(() => house.holds.renewPreauthorization(renewal));
  }
  const running = Array.from({ length: count }, async () => {
    while (!stopped) await buy();
  });
  return {
    bought,
    /** Captures answered so far. */
    answered: () => answered,
    async stop(): Promise<readonly Bought[]> {
      stopped = true;
      await Promise.all(running);
      return bought;
    },
  };
}

const [CANCELLED, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE] = [1, 4, 13, 14];
/** A hold, and the captures that its buyer wants: more than it allows. */
const AMOUNT = 1_000;
const PARTS = [300, 400, 300, 200];
/** When a hold captures or ends by itself: soon, and not before a core that was killed serves again. */
const SOON_MS = 2_000;

/**
 * Waits until no attempt is open, and every hold has done by itself what is due. Returns how long that took, in
 * milliseconds.
 */
export async function untilSettled({ sql }: Pick<Deployment, 'sql'>, withinMs: number): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const [row] = await sql<{ open: number }>(OPEN);
    const tookMs = performance.now() - startedMs;
    if (row?.open === 0) return tookMs;
    assert(tookMs < withinMs, `${row?.open} attempts or holds are still open after ${withinMs} ms`);
    await delay(100);
  }
}

const OPEN = `select ((select count(*) from hold where phase in ('AUTHORIZING', 'UNKNOWN', 'NEEDS_REVIEW'))
  + (select count(*) from hold h where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED'
      and (capture_at is not null or release_at is not null
        or exists (select from hold n where n.renews = h.request_id and n.phase = 'AUTHORIZED')))
  + (select count(*) from submission where state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')))::int as open`;

/** Waits for all notifications to be delivered, for 90 s at most. Returns how many are left. */
export async function untilDelivered({ sql }: Pick<Deployment, 'sql'>): Promise<number> {
  for (let waitedMs = 0; ; waitedMs += 500) {
    const [row] = await sql<{ count: number }>("select count(*)::int from delivery where state <> 'DELIVERED'");
    if (row?.count === 0 || waitedMs >= 90_000) return row?.count ?? 0;
    await delay(500);
  }
}

/**
 * Repeats captures not answered as done, under their keys: those done before return their results, and nothing is done
 * twice.
 */
export async function askAgain(bought: readonly Bought[]): Promise<string> {
  const open = bought.flatMap(({ wanted }) => wanted).filter(({ acknowledged }) => acknowledged === undefined);
  await Promise.all(open.map((want) => want.ask()));
  const now = open.filter(({ acknowledged }) => acknowledged !== undefined).length;
  return `${open.length} captures without a good answer were asked for again: ${now} are done`;
}

/** Asserts what must hold afterwards, whatever was killed. Returns lines with figures. */
export async function checkBought(house: House, bought: readonly Bought[]): Promise<string[]> {
  const captures = await house.sql<{ request_id: string; hold_request_id: string; state: string }>(
    "select request_id, hold_request_id, state from submission where kind = 'CAPTURE'",
  );
  const sent = await house.sql<{ request_id: string; identifier: string }>(SENT);
  const identifiers = new Map(sent.map(({ request_id, identifier }) => [request_id, identifier]));
  const oracle = openOracle(house.ledgerFile);
  const entryOf = (requestId: string) => oracle.find(identifiers.get(requestId) ?? '');
  const states = new Map(captures.map(({ request_id, state }) => [request_id, state]));
  const byHold = Map.groupBy(captures, ({ hold_request_id }) => hold_request_id);
  let acknowledged = 0;
  const renewals = await house.sql<{ renews: string }>(
    "select renews from hold where phase = 'AUTHORIZED' and renews is not null",
  );
  const renewed = new Set(renewals.map(({ renews }) => renews));
  for (const { requestId, amount, plan, wanted } of bought) {
    for (const { acknowledged: id } of wanted) {
      if (id === undefined) continue;
      acknowledged++;
      assert.equal(states.get(id), 'OK', `capture ${id} was acknowledged`);
      assert.equal(entryOf(id)?.answer, 1, `capture ${id} was acknowledged and charged`);
    }
    const own = byHold.get(requestId) ?? [];
    const { captured, voided } = entryOf(requestId) ?? assert.fail(`hold ${requestId} is not at the processor`);
    assert(captured <= amount, `hold ${requestId} was charged ${captured}`);
    // What it captures by itself is made again when it never arrived.
    const done = own.filter(({ state }) => plan !== 'captured' || state === 'OK').length;
    assert(
      done <= wanted.length + (plan === 'captured' ? 1 : 0),
      `hold ${requestId} was captured more often than wanted`,
    );
    if (plan === 'captured') assert.equal(captured, amount, `hold ${requestId} captures what remains`);
    if (plan === 'expired') assert.equal(captured + voided, amount, `hold ${requestId} ends`);
    if (plan === 'renewed' && renewed.has(requestId))
      assert.equal(captured + voided, amount, `${requestId} is released`);
  }
  oracle.close();
  assert.deepEqual(await house.audit(), [], 'the audit finds nothing');
  const [row] = await house.sql<{ untold: number; operations: number }>(
    `select (select count(*) from operation o where not exists (select from delivery d where d.request_id =
      o.request_id::text))::int
      as untold, (select count(*) from operation)::int as operations`,
  );
  assert.equal(row?.untold, 0, 'each operation has its delivery');
  const byThemselves = bought.filter(({ plan }) => plan !== 'nothing').length;
  return [
    `${byThemselves} holds were captured, ended or released by themselves`,
    `${bought.length} holds, ${captures.length} captures, ${acknowledged} acknowledged: none lost, none twice, none ` +
      'over its hold',
    `${row?.operations} operations, each with its delivery; the audit finds no drift`,
  ];
}

const SENT = `select request_id, coalesce(processor_request_id, request_id) as identifier from hold
  union all select request_id, coalesce(processor_request_id, request_id) from submission`;

/** Waits until the merchant has been notified of every operation. */
export async function untilTold(house: House, withinMs: number): Promise<string> {
  const startedMs = performance.now();
  for (;;) {
    const operations = await house.sql<{ request_id: string }>('select request_id from operation');
    const untold = operations.filter(({ request_id }) => !house.received.has(request_id));
    const tookMs = performance.now() - startedMs;
    if (untold.length === 0) return `the merchant was told of all ${operations.length} after ${Math.round(tookMs)} ms`;
    assert(tookMs < withinMs, `the merchant was not notified of ${untold.length} operations`);
    await delay(200);
  }
}
