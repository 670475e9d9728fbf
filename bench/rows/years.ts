import { openDatabase } from '../../services/core/storage/open-database.ts';
import { measurePairs, type PairCost } from '../database-pairs.ts';
import type { House } from '../house.ts';
import { median, type Row } from '../row.ts';
import { storeHolds } from './soak.ts';

const FEW = 10_000;
const MANY = Number(process.env.YEARS_HOLDS ?? 2_000_000);
/** Of 32 pairs each. */
const ROUNDS = 40;

/**
 * Milliseconds of a pair and its deliveries in PostgreSQL alone, one statement after the other, among many holds and
 * among few.
 */
export const pairMs: Row = {
  name: `a hold + capture in PostgreSQL alone, among ${MANY} holds`,
  unit: 'ms',
  reference: `among ${FEW} holds`,
  goal: { atMost: 1.1 },
  warmsUp: false,
  async prepare(house) {
    const { merchantId } = await house.createMerchant({ webhookUrl: 'http://127.0.0.1:9' });
    await storeHolds(house, merchantId, FEW);
    const few = await costOf(house, merchantId);
    await storeHolds(house, merchantId, MANY);
    return async () => ({ value: (await costOf(house, merchantId)).ms, reference: few.ms });
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
  async prepare(house) {
    const { merchantId } = await house.createMerchant({ webhookUrl: 'http://127.0.0.1:9' });
    await storeHolds(house, merchantId, MANY);
    const sizeOf = async () => {
      await house.query('vacuum');
      const [row] = await house.query<{ size: string }>('select pg_database_size(current_database()) as size');
      return Number(row?.size);
    };
    return async () => {
      const before = await sizeOf();
      const { walBytes } = await costOf(house, merchantId);
      return { value: ((await sizeOf()) - before) / (5 * ROUNDS * 32), reference: walBytes };
    };
  },
};

/** Medians of five. */
async function costOf(house: House, merchantId: string): Promise<PairCost> {
  const database = await openDatabase({ databaseUrl: house.databaseUrl, poolSize: 1 });
  try {
    const costs: PairCost[] = [];
    for (let count = 0; count < 5; count++) costs.push(await measurePairs(database, merchantId, ROUNDS));
    return { ms: median(costs.map(({ ms }) => ms)), walBytes: median(costs.map(({ walBytes }) => walBytes)) };
  } finally {
    await database.close();
  }
}
