import type { Database } from '../../services/core/storage/database.ts';
import { openPool } from '../../services/core/storage/open-pool.ts';
import { makePartitions } from '../../services/core/storage/partitions.ts';
import { type CpuMs, cpuEach } from '../cpu.ts';
import { measurePairs, type PairCost } from '../database-pairs.ts';
import { type House, openHouse } from '../house.ts';
import { median, type Row } from '../row.ts';
import { STORE_PAIRS } from '../stored-holds.ts';

const FEW = 10_000;
const MANY = Number(process.env.YEARS_HOLDS ?? 2_000_000);
const AT_ONCE = 100_000;
/** Of 32 pairs each: a few seconds, in which the machine hardly changes. */
const ROUNDS = 20;
const TURNS = 15;
const A_MONTH_MS = 30 * 86_400_000;

/**
 * Milliseconds of a pair and its deliveries in PostgreSQL alone, one statement after the other, among many holds and,
 * in a cluster of its own and in turn, among few.
 */
export const pairMs: Row = {
  name: `a hold + capture in PostgreSQL alone, among ${MANY} holds`,
  unit: 'ms',
  reference: `among ${FEW} holds`,
  goal: { atMost: 1.1 },
  repetitions: TURNS,
  async prepare(house) {
    const small = await openHouse();
    house.atRowEnd(() => small.close());
    const [few, many] = [await storePairs(small, FEW), await storePairs(house, MANY)];
    return async () => {
      const [ours, theirs] = [await costOf(house, many), await costOf(small, few)];
      return { value: ours.ms, reference: theirs.ms, cpu: ours.cpu, referenceCpu: theirs.cpu };
    };
  },
};

/**
 * Bytes that a pair and its deliveries leave in tables and indexes, beside those that go through the write-ahead log.
 */
export const pairBytes: Row = {
  name: `bytes stored for a hold + capture, among ${MANY} holds`,
  unit: 'bytes',
  reference: 'bytes of its write-ahead log',
  goal: undefined,
  warmsUp: false,
  repetitions: 1,
  async prepare(house) {
    const merchantId = await storePairs(house, MANY);
    return async () => {
      const before = await sizeOf(house);
      const walBytes: number[] = [];
      for (let turn = 0; turn < TURNS; turn++) walBytes.push((await costOf(house, merchantId)).walBytes);
      return { value: ((await sizeOf(house)) - before) / (TURNS * ROUNDS * 32), reference: median(walBytes) };
    };
  },
};

/** Stores captured holds of the past, with all that is kept of them, up to a number. Resolves with a merchant. */
async function storePairs(house: House, count: number): Promise<string> {
  const { merchantId } = await house.createMerchant({ webhookUrl: 'http://127.0.0.1:9' });
  const [stored] = await house.query<{ count: string }>('select count(*) from hold');
  const first = Number(stored?.count);
  const before = await sizeOf(house);
  await inDatabase(house, (database) => makePartitions(database, new Date(Date.now() - A_MONTH_MS), 0));
  for (let at = first; at < count; at += AT_ONCE)
    await house.query(STORE_PAIRS, [merchantId, Math.min(AT_ONCE, count - at), at]);
  await house.query('vacuum analyze');
  const added = count - first;
  if (added > 0) {
    const bytes = Math.round(((await sizeOf(house)) - before) / added);
    process.stderr.write(`${added} pairs stored, ${bytes} bytes each without deliveries\n`);
  }
  return merchantId;
}

async function sizeOf(house: House): Promise<number> {
  await house.query('vacuum');
  const [row] = await house.query<{ size: string }>('select pg_database_size(current_database()) as size');
  return Number(row?.size);
}

async function costOf(house: House, merchantId: string): Promise<PairCost & { cpu: CpuMs }> {
  const before = await house.cpu();
  const cost = await inDatabase(house, (database) => measurePairs(database, merchantId, ROUNDS));
  const { PostgreSQL = 0 } = cpuEach(before, await house.cpu(), ROUNDS * 32);
  return { ...cost, cpu: { PostgreSQL } };
}

async function inDatabase<T>(house: House, run: (database: Database) => Promise<T>): Promise<T> {
  const database = await openPool({ databaseUrl: house.databaseUrl, poolSize: 1 });
  try {
    return await run(database);
  } finally {
    await database.close();
  }
}
