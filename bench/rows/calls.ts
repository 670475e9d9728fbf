import { setTimeout as sleep } from 'node:timers/promises';
import type { House } from '../house.ts';
import { type LoadOrder, runCosted, runLoad } from '../load.ts';
import { runReference } from '../references/pgbench.ts';
import { openPlainService } from '../references/plain-service.ts';
import { TABLES } from '../references/scripts.ts';
import { type Row, throughput } from '../row.ts';
import { withStandby } from '../standby.ts';

const IN_FLIGHT = 64;
const REFERENCE_CLIENTS = 32;
const MERCHANTS = 1_000;
/** The gateway learns of a new merchant within a second. */
const KNOWN_MS = 1_500;
/** Nothing listens there, and no worker runs: deliveries are written, and their alarms set, with each commit. */
const NOWHERE = { webhookUrl: 'http://127.0.0.1:9' };

/** Holds placed per second over gRPC, against the same two commits row at a time. */
export const holds = grpcRow('holds over gRPC', 'per second', 'two commits a hold', 'hold');

/** Holds placed and captured per second over gRPC, against the same four commits row at a time. */
export const pairs = grpcRow('hold + capture over gRPC', 'pairs per second', 'four commits a pair', 'pair');

function grpcRow(what: string, unit: string, commits: string, script: 'hold' | 'pair'): Row {
  return {
    name: `${what}, ${IN_FLIGHT} in flight`,
    unit,
    reference: `pgbench, ${commits}, ${REFERENCE_CLIENTS} clients`,
    goal: { atLeast: 1 },
    async prepare(house, seconds) {
      const order = await holdOrder(house, IN_FLIGHT, seconds, script === 'pair' ? { capture: 'yes' } : {});
      return async () =>
        throughput(await runCosted(house, order), await runReference(house, script, REFERENCE_CLIENTS, seconds));
    },
  };
}

/** Pairs of a thousand merchants in turn, against those of one. */
export const manyMerchants: Row = {
  name: `hold + capture over gRPC, ${MERCHANTS} merchants`,
  unit: 'pairs per second',
  reference: 'one merchant',
  goal: { atLeast: 0.95 },
  async prepare(house, seconds) {
    const { merchantId: like } = await house.createMerchant(NOWHERE);
    await house.query(COPY_MERCHANT, [like, MERCHANTS]);
    const order = (merchants: number) =>
      holdOrder(house, IN_FLIGHT, seconds, { capture: 'yes', merchantId: like, merchants: String(merchants) });
    const [many, one] = [await order(MERCHANTS), await order(0)];
    return async () => throughput(await runCosted(house, many), await runCosted(house, one));
  },
};

const COPY_MERCHANT = `insert into merchant
  select (jsonb_populate_record(m, jsonb_build_object('id', m.id || '_' || n))).*
  from merchant m, generate_series(0, $2::int - 1) n where m.id = $1`;

/** Holds placed per second over REST, against gRPC. */
export const restHolds: Row = {
  name: 'holds over REST, 64 in flight',
  unit: 'per second',
  reference: 'holds over gRPC',
  goal: { atLeast: 0.6 },
  async prepare(house, seconds) {
    await house.start('gateway');
    const { apiKey, merchantId } = await house.createMerchant(NOWHERE);
    const grpc = await holdOrder(house, IN_FLIGHT, seconds, { merchantId });
    const options = { baseUrl: house.baseUrl, apiKey };
    const rest = { load: 'rest-hold' as const, inFlight: IN_FLIGHT, seconds, options };
    await sleep(KNOWN_MS);
    return async () => throughput(await runCosted(house, rest), await runCosted(house, grpc));
  },
};

/** Holds placed and captured per second over REST, against a service written by hand. */
export const restPairs: Row = {
  name: 'hold + capture over REST, 64 in flight',
  unit: 'pairs per second',
  reference: 'Koa and raw pg by hand, four commits a pair',
  goal: { atLeast: 2 },
  async prepare(house, seconds) {
    await house.start('gateway');
    const merchant = await house.createMerchant(NOWHERE);
    return besidePlain(house, merchant, { load: 'rest-hold', seconds, options: { capture: 'yes' } });
  },
};

/** Notifications verified, stored and answered 200 by the relay, against a receiver written by hand. */
export const relay = relayRow('notifications through the relay, 64 in flight', '1');

/** The same through two gateway processes on one port. */
export const relayByTwo = relayRow('notifications through the relay, two gateway processes', '2');

function relayRow(name: string, processes: string): Row {
  return {
    name,
    unit: 'per second',
    reference: 'Koa, HMAC and one INSERT by hand',
    goal: { atLeast: 1.5 },
    async prepare(house, seconds) {
      await house.stop('gateway');
      await house.start('gateway', { GATEWAY_PROCESSES: processes });
      house.atRowEnd(() => house.stop('gateway'));
      return besidePlain(house, await house.createMerchant(), { load: 'relay', seconds, options: {} });
    },
  };
}

/** Measures a load of a merchant at the gateway, then at the service written by hand. */
async function besidePlain(
  house: House,
  { merchantId, apiKey, signingSecret: secret }: Awaited<ReturnType<House['createMerchant']>>,
  { options, ...load }: Pick<LoadOrder, 'load' | 'seconds' | 'options'>,
) {
  const plain = await openPlainService(house, apiKey, secret);
  house.atRowEnd(() => plain.close());
  await sleep(KNOWN_MS);
  const order = (baseUrl: string) => ({
    ...load,
    inFlight: IN_FLIGHT,
    options: { ...options, baseUrl, merchantId, apiKey, secret },
  });
  const [ours, theirs] = [order(house.baseUrl), order(plain.baseUrl)];
  return async () => throughput(await runCosted(house, ours), await runCosted(house, theirs, { 'by hand': plain.pid }));
}

/** What one hold alone waits for, less the processor's own time, against its two commits through pg. */
export const loneHold = loneRow('a lone hold over gRPC, p50, less the processor', 2, (house, seconds) =>
  holdOrder(house, 1, seconds),
);

/** The same over REST, end to end: a shop at night has one customer. */
export const loneRestHold = loneRow('a lone hold over REST, p50, less the processor', 2.5, restHoldOrder);

/** The same while each commit, the reference's too, waits for a synchronous standby on this machine. */
export const loneRestHoldStandby = loneRow(
  'a lone hold over REST, synchronous standby, p50, less the processor',
  2.5,
  async (house, seconds) => {
    await withStandby(house);
    return restHoldOrder(house, seconds);
  },
);

async function restHoldOrder(house: House, seconds: number): Promise<LoadOrder> {
  await house.start('gateway');
  const { apiKey } = await house.createMerchant(NOWHERE);
  await sleep(KNOWN_MS);
  return { load: 'rest-hold', inFlight: 1, seconds, options: { baseUrl: house.baseUrl, apiKey } };
}

function loneRow(name: string, atMost: number, orderOf: (house: House, seconds: number) => Promise<LoadOrder>): Row {
  return {
    name,
    unit: 'ms',
    reference: 'two commits through pg, p50 ms',
    goal: { atMost },
    async prepare(house, seconds) {
      await house.query(TABLES);
      const hold = await orderOf(house, seconds);
      const address = `127.0.0.1:${house.ports.SANDBOX_PORT}`;
      const options = { address, token: house.secrets.processorCredential };
      const processor = { load: 'authorize' as const, inFlight: 1, seconds, options };
      const commits = { databaseUrl: house.databaseUrl, script: 'hold', connections: '1' };
      const pg = { load: 'pg' as const, inFlight: 1, seconds, options: commits };
      return async () => {
        const [whole, theirs, reference] = [await runLoad(hold), await runLoad(processor), await runLoad(pg)];
        const { p50Ms, p99Ms } = whole;
        return { value: p50Ms - theirs.p50Ms, reference: reference.p50Ms, p50Ms, p99Ms };
      };
    },
  };
}

/** The order for a load of holds. */
export async function holdOrder(house: House, inFlight: number, seconds: number, extra: Record<string, string> = {}) {
  const merchantId = extra.merchantId ?? (await house.createMerchant(NOWHERE)).merchantId;
  const address = `127.0.0.1:${house.ports.CORE_PORT}`;
  const options = { address, token: house.secrets.serviceToken, merchantId, ...extra };
  return { load: 'hold' as const, inFlight, seconds, options };
}
