/** What one merchant, or one process, may do to the others. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { WebhookEndpointService } from '../../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import { freePort } from '../../../services/quickstart/ports.ts';
import { serveLocally } from '../../local-server.ts';
import { openOracle } from '../../services/sandbox/oracle.ts';
import type { Deployment, Merchant } from '../../torture/deployment/deployment.ts';
import { withSession } from '../../torture/deployment/postgres-member.ts';
import type { Caller, Heard } from '../merchants/caller.ts';
import type { Neighbour, Neighbours } from '../merchants/neighbour.ts';
import type { Fault } from '../play.ts';
import { type FloodAnswer, type FloodOptions, sendFlood } from './flood.ts';
import { dropStreams } from './load.ts';

interface Disturbed {
  readonly deployment: Deployment;
  readonly caller: Caller;
  /** The merchant that disturbs. */
  readonly noisy: Merchant;
  /** Numbers from 0 to 1 that the seed determines. */
  readonly random: () => number;
}

interface Disturbance {
  readonly name: string;
  /** How much longer a neighbour may wait, in milliseconds. */
  readonly allowedMs: number;
  /** The neighbour calls a gateway that uses only the other core. */
  readonly isBeside?: boolean;
  /** Load that is also present without the disturbance. */
  readonly capturesPerSecond?: number;
  /** The cost of sending the disturbance alone: runs while the neighbour is measured without it. */
  calm?(disturbed: Disturbed): Promise<unknown>;
  /** Disturbs and repairs. Returns what happened. */
  run(disturbed: Disturbed): Promise<string>;
}

const SECOND_MS = 1_000;
const LOCKED_MS = 10_000;
const CAPTURES_PER_SECOND = 150;

function flood(
  what: string,
  holds: number,
  sending: Pick<FloodOptions, 'calls' | 'ratePerSecond' | 'connectionEach'>,
): Disturbance {
  return {
    name: `${what}, 10 s`,
    allowedMs: SECOND_MS,
    calm: ({ noisy: { apiKey } }) => sendFlood({ ...sending, apiKey, preauthorizationIds: ['none'] }),
    async run(disturbed) {
      const { deployment, noisy } = disturbed;
      const placed = await Promise.all(Array.from({ length: holds }, () => place(disturbed)));
      const preauthorizationIds = placed.map(({ body }) => body.preauthorizationId);
      const { apiKey } = noisy;
      const answers = await sendFlood({ ...sending, baseUrl: deployment.baseUrl, apiKey, preauthorizationIds });
      const charges = placed.map(({ body }) => charged(disturbed, body.requestId));
      return `${tally(answers)}; ${charges.reduce((sum, count) => sum + count, 0)} charged`;
    },
  };
}

const floods = [
  flood('300 captures/s of one key on one hold, connections kept', 1, { calls: 3_000, ratePerSecond: 300 }),
  flood('the same, a new connection for each', 1, { calls: 3_000, ratePerSecond: 300, connectionEach: true }),
  flood('300 captures/s of one key on 100 holds', 100, { calls: 3_000, ratePerSecond: 300 }),
];

const lockedWhileSettled: Disturbance = {
  name: 'one row locked while its capture settles, 10 s',
  allowedMs: SECOND_MS,
  async run(disturbed) {
    const { requestId, preauthorizationId } = (await place(disturbed, 'tok_sandbox_slow')).body;
    const capturing = capture(disturbed, preauthorizationId);
    // The processor answers after 2 s; until then the reservation is committed and nothing is settled.
    await delay(700);
    await withRowsLocked(disturbed.deployment, [requestId], () => delay(LOCKED_MS));
    return tally(heard([await capturing]));
  },
};

const lockedWhileReserved: Disturbance = {
  name: 'two rows locked while they are reserved, 10 s',
  allowedMs: SECOND_MS,
  async run(disturbed) {
    const holds = await Promise.all([place(disturbed), place(disturbed)]);
    const rows = holds.map(({ body }) => body.requestId);
    return withRowsLocked(disturbed.deployment, rows, async () => {
      // Several for each core, so that both wait for both rows.
      const handles = [...holds, ...holds, ...holds, ...holds].map(({ body }) => body.preauthorizationId);
      const capturing = handles.map((handle) => capture(disturbed, handle));
      await delay(LOCKED_MS);
      return capturing;
    })
      .then((capturing) => Promise.all(capturing))
      .then((answers) => tally(heard(answers)));
  },
};

const streams: Disturbance = {
  name: '500 event streams opened and dropped a second, 15 s',
  allowedMs: SECOND_MS,
  async run({ deployment, noisy }) {
    const { opened, dropped, refused } = await dropStreams(deployment, noisy, 15_000);
    return `${opened} opened, ${dropped} dropped after their head, ${refused} refused`;
  },
};

/** Nine of ten endpoints of a merchant are down or silent while it captures. */
const deadEndpoints: Disturbance = {
  name: `nine of ten endpoints dead under ${CAPTURES_PER_SECOND} captures/s, 15 s`,
  allowedMs: SECOND_MS,
  capturesPerSecond: CAPTURES_PER_SECOND,
  async run({ deployment, noisy: { merchantId } }) {
    const silent = await serveLocally(() => undefined);
    const down = `http://127.0.0.1:${await freePort()}`;
    const channel = deployment.openAsOperator();
    try {
      const calmMs = await slowestDeliveryMs(deployment, 'neighbour');
      const endpoints = channel.client(WebhookEndpointService);
      const dead = Array.from({ length: 9 }, (_, index) => `${index % 2 === 0 ? silent.url : down}/${index}`);
      const created = await Promise.all(
        dead.map((url) => endpoints.createWebhookEndpoint({ merchantId, url, timeoutSeconds: 5 })),
      );
      await delay(15_000);
      const slowest = await Promise.all(['neighbour', merchantId].map((one) => slowestDeliveryMs(deployment, one)));
      const ids = created.map(({ endpoint }) => endpoint?.endpointId ?? '');
      for (const endpointId of ids) await endpoints.deleteWebhookEndpoint({ merchantId, endpointId });
      for (const ms of slowest) assert(ms < calmMs + SECOND_MS, `a notification waited ${ms} ms, ${calmMs} ms before`);
      return `deliveries within ${calmMs} ms before, ${slowest.join(' and ')} ms (its own) beside them`;
    } finally {
      channel.close();
      await silent.close();
    }
  },
};

/** The slowest delivery to a merchant's webhookUrl in the last 8 s, also one that still waits. */
async function slowestDeliveryMs({ sql }: Deployment, merchantId: string): Promise<number> {
  const [row] = await sql<{ ms: number }>(`select coalesce(max(extract(epoch from
      coalesce(delivered_at, clock_timestamp()) - created_at)), 0)::float8 * 1000 as ms
    from delivery
    where merchant_id = '${merchantId}' and endpoint_kind = 'webhook'
      and created_at > clock_timestamp() - interval '8 seconds'`);
  return Math.round(row?.ms ?? 0);
}

const ALL_AT_ONCE = { calls: 3_000, ratePerSecond: 0 };

const deadlines: Disturbance = {
  name: '3 000 captures at once on a row locked for 20 s',
  allowedMs: SECOND_MS,
  calm: ({ noisy: { apiKey } }) => sendFlood({ ...ALL_AT_ONCE, apiKey, preauthorizationIds: ['none'] }),
  async run(disturbed) {
    const { deployment, noisy } = disturbed;
    const { requestId, preauthorizationId } = (await place(disturbed)).body;
    const answers = await withRowsLocked(deployment, [requestId], async () => {
      const { apiKey } = noisy;
      const preauthorizationIds = [preauthorizationId];
      const sending = sendFlood({ ...ALL_AT_ONCE, baseUrl: deployment.baseUrl, apiKey, preauthorizationIds });
      await delay(20_000);
      return { sending };
    });
    return `${tally(await answers.sending)}; ${charged(disturbed, requestId)} charged so far`;
  },
};

/**
 * Every write of money is one statement that commits by itself, so no lock waits for a frozen client and the moment
 * does not matter: each freeze comes at a random one. If a session nevertheless holds an advisory lock in an idle
 * transaction, the row says so.
 */
function coreFrozen(isBeside: boolean): Disturbance {
  return {
    name:
      `one of two cores frozen ${FREEZES} times for ${FROZEN_MS / 1_000} s under ${CAPTURES_PER_SECOND} captures/s; ` +
      `seen through ${isBeside ? 'the other core' : 'both'}`,
    allowedMs: (isBeside ? 3 : CARRIED_OUT_S) * SECOND_MS,
    isBeside,
    capturesPerSecond: CAPTURES_PER_SECOND,
    async run({ deployment, random }) {
      let held = 0;
      for (let freeze = 0; freeze < FREEZES; freeze++) {
        await delay(random() * SECOND_MS);
        const thaw = await deployment.cores[0]?.freeze();
        held += (await deployment.sql(LOCK_HOLDERS)).length > 0 ? 1 : 0;
        await delay(FROZEN_MS);
        thaw?.();
        await delay(RECOVERY_MS);
      }
      return `held a lock in an idle transaction in ${held} of ${FREEZES} freezes`;
    },
  };
}

/**
 * Operations in progress at the frozen core are unknown until their call to the processor must have ended: the
 * processor's timeout of the deployment, 3 s, and 5 s of grace. Calls that it had only received are repeated at the
 * other core within 2.5 s.
 */
const CARRIED_OUT_S = 9;
const FREEZES = 3;
const FROZEN_MS = 10_000;
const RECOVERY_MS = 3_000;

const DISTURBANCES: readonly Disturbance[] = [
  ...floods,
  lockedWhileSettled,
  lockedWhileReserved,
  streams,
  deadEndpoints,
  coreFrozen(true),
  coreFrozen(false),
  deadlines,
];

/** Each is compared with a measurement without it. */
export const disturbances = DISTURBANCES.map(
  (disturbance): Fault<Deployment, Neighbours> => ({
    name: disturbance.name,
    async strike({ stage, merchants, random }) {
      const disturbed = { deployment: stage, caller: merchants.caller, noisy: merchants.noisy, random };
      const seen = await observe(disturbed, disturbance, disturbance.isBeside ? merchants.beside : merchants.neighbour);
      merchants.seen.push({ ...seen, name: disturbance.name, allowedMs: disturbance.allowedMs });
      await delay(REST_MS);
      return { what: seen.what };
    },
  }),
);

const WITHOUT_MS = 8_000;
/** Work left behind may keep the service busy. */
const REST_MS = 8_000;

async function observe(disturbed: Disturbed, disturbance: Disturbance, neighbour: Neighbour) {
  const load = await startLoad(disturbed, disturbance.capturesPerSecond ?? 0);
  const calm = neighbour.start();
  await Promise.all([delay(WITHOUT_MS), disturbance.calm?.(disturbed)]);
  const without = await calm.stop();
  const before = await disturbed.deployment.coreMemoryMb(0);
  const troubled = neighbour.start();
  const what = await disturbance.run(disturbed);
  await delay(1_000);
  const measured = await troubled.stop();
  const after = await disturbed.deployment.coreMemoryMb(0);
  await load.stop();
  return { without, with: measured, memoryMb: [before, after] as const, what };
}

/** Captures of the noisy merchant on holds of its own, at a rate, until it is stopped. */
async function startLoad(disturbed: Disturbed, ratePerSecond: number): Promise<{ stop(): Promise<void> }> {
  const holds = await Promise.all(Array.from({ length: ratePerSecond === 0 ? 0 : 50 }, () => place(disturbed)));
  const sent: Promise<Heard>[] = [];
  let isOver = ratePerSecond === 0;
  const sending = (async () => {
    const startedMs = performance.now();
    while (!isOver) {
      while (sent.length < ((performance.now() - startedMs) / 1_000) * ratePerSecond)
        sent.push(capture(disturbed, holds[sent.length % holds.length]?.body.preauthorizationId));
      await delay(5);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await sending;
      await Promise.all(sent);
    },
  };
}

function place({ caller, noisy }: Disturbed, tokenId = 'tok_sandbox_ok'): Promise<Heard> {
  const body = { tokenId, amount: 10_000_000, currency: 'EUR', terminalId: 'T1', userId: 'u' };
  return caller.send({ apiKey: noisy.apiKey, path: '/preauthorization', body });
}

function capture({ caller, noisy }: Disturbed, preauthorizationId: string): Promise<Heard> {
  const body = { preauthorizationId, amountToCapture: 1 };
  return caller.send({ apiKey: noisy.apiKey, path: '/preauthorization/authorization', body });
}

function withRowsLocked<T>({ database }: Deployment, rows: string[], act: () => Promise<T>): Promise<T> {
  return withSession(database.adminUrl, async (session) => {
    await session.query('begin');
    await session.query('select from hold where request_id = any($1::uuid[]) for update', [rows]);
    return act();
  });
}

/** Sessions that hold an advisory lock and wait for their client. */
const LOCK_HOLDERS = `select from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and granted and state = 'idle in transaction'`;

/** Captures of a hold that the processor performed. */
function charged({ deployment }: Disturbed, holdRequestId: string): number {
  const oracle = openOracle(deployment.ledgerFile);
  try {
    return oracle.entries(holdRequestId).filter(({ kind, answer }) => kind === 'capture' && answer === Answer.APPROVED)
      .length;
  } finally {
    oracle.close();
  }
}

function heard(answers: readonly Heard[]): FloodAnswer[] {
  return answers.map(({ status, body, tookMs }) => ({ status, code: body.code ?? '', tookMs }));
}

/** How often each status was answered, and the longest time of each. */
function tally(answers: readonly FloodAnswer[]): string {
  const byStatus = Map.groupBy(answers, ({ status, code }) => `${status || 'broken'} ${code}`.trim());
  const slowestMs = Math.max(...answers.map(({ tookMs }) => tookMs));
  const counts = [...byStatus].map(([status, some]) => `${some.length} × ${status}`);
  return `${counts.join(', ')}; the last after ${(slowestMs / 1_000).toFixed(1)} s`;
}
