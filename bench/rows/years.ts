import { openPool } from '../../services/core/storage/open-pool.ts';
import { makePartitions } from '../../services/core/storage/partitions.ts';
import { type House, openHouse } from '../house.ts';
import { type LoadOrder, runCosted } from '../load.ts';
import { median, type Row } from '../row.ts';
import { STORE_PAIRS } from '../stored-holds.ts';
import { holdOrder } from './calls.ts';

const FEW = 10_000;
const MANY = Number(process.env.YEARS_HOLDS ?? 2_000_000);
const STORED_AT_ONCE = 100_000;
const IN_FLIGHT = 32;
const TURNS = 15;
const A_MONTH_MS = 30 * 86_400_000;

/** CPU that PostgreSQL spends on a pair among many holds and, in a cluster of its own and in turn, among few. */
export const pairMs: Row = {
  name: `PostgreSQL's CPU of a hold + capture, among ${MANY} holds`,
  unit: 'ms',
  reference: `among ${FEW} holds`,
  goal: { atMost: 1.1 },
  repetitions: TURNS,
  async prepare(house, seconds) {
    const small = await openHouse();
    house.atRowEnd(() => small.close());
    const [few, many] = [await storePairs(small, FEW, seconds), await storePairs(house, MANY, seconds)];
    return async () => ({ value: (await costOf(house, many)).ms, reference: (await costOf(small, few)).ms });
  },
};

/** Bytes that a pair leaves in tables and indexes, beside those that go through the write-ahead log. */
export const pairBytes: Row = {
  name: `bytes stored for a hold + capture, among ${MANY} holds`,
  unit: 'bytes',
  reference: 'bytes of its write-ahead log',
  goal: undefined,
  warmsUp: false,
  repetitions: 1,
  async prepare(house, seconds) {
    const order = await storePairs(house, MANY, seconds);
    return async () => {
      const before = await sizeOf(house);
      const costs = [];
      for (let turn = 0; turn < TURNS; turn++) costs.push(await costOf(house, order));
      const pairs = costs.reduce((sum, { acts }) => sum + acts, 0);
      return { value: ((await sizeOf(house)) - before) / pairs, reference: median(costs.map((cost) => cost.walBytes)) };
    };
  },
};

/** Stores captured holds of the past, with all that is kept of them, up to a number. Returns a load of pairs. */
async function storePairs(house: House, count: number, seconds: number): Promise<LoadOrder> {
  const order = await holdOrder(house, IN_FLIGHT, seconds, { capture: 'yes' });
  const [stored] = await house.query<{ count: string }>('select count(*) from hold');
  const first = Number(stored?.count);
  const before = await sizeOf(house);
  const database = await openPool({ databaseUrl: house.databaseUrl, poolSize: 1 });
  await makePartitions(database, new Date(Date.now() - A_MONTH_MS), 0);
  await database.close();
  for (let at = first; at < count; at += STORED_AT_ONCE)
    await house.query(STORE_PAIRS, [order.options.merchantId, Math.min(STORED_AT_ONCE, count - at), at]);
  await house.query('vacuum analyze');
  const added = count - first;
  if (added > 0) {
    const bytes = Math.round(((await sizeOf(house)) - before) / added);
    process.stderr.write(`${added} pairs stored, ${bytes} bytes each without deliveries\n`);
  }
  return order;
}

async function sizeOf(house: House): Promise<number> {
  await house.query('vacuum');
  const [row] = await house.query<{ size: string }>('select pg_database_size(current_database()) as size');
  return Number(row?.size);
}

/** What pairs cost PostgreSQL. `walBytes` includes pages that are written whole after a checkpoint. */
async function costOf(house: House, order: LoadOrder) {
  const before = await walPosition(house);
  const { acts, cpu } = await runCosted(house, order);
  return { acts, ms: cpu?.PostgreSQL ?? Number.NaN, walBytes: ((await walPosition(house)) - before) / acts };
}

async function walPosition(house: House): Promise<number> {
  const [row] = await house.query<{ position: string }>(`select pg_current_wal_insert_lsn() - '0/0' as position`);
  return Number(row?.position);
}
