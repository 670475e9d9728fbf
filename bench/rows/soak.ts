import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { House } from '../house.ts';
import { type LoadOrder, runLoad } from '../load.ts';
import { runReference } from '../references/pgbench.ts';
import { median, type Row } from '../row.ts';
import { STORE_HOLDS } from '../stored-holds.ts';
import { holdOrder } from './calls.ts';

const FEW = 10_000;
const MANY = 2_000_000;
const SOAK_S = 600;
const SOAK_PER_SECOND = 200;

/**
 * What a hold and its capture cost among two million stored holds, against among ten thousand; each in what they cost
 * pgbench in small tables at the same time, since minutes lie between the two.
 */
export const history: Row = {
  name: `cost of a hold + capture among ${MANY} holds`,
  unit: "of pgbench's pairs in small tables",
  reference: `among ${FEW} holds`,
  goal: { atMost: 1.1 },
  warmsUp: false,
  async prepare(house, seconds) {
    const order = await holdOrder(house, 64, seconds, { capture: 'yes' });
    const merchantId = order.options.merchantId ?? '';
    await storeHolds(house, merchantId, FEW);
    await runLoad(order);
    const few = await costOfPairs(house, order);
    await storeHolds(house, merchantId, MANY);
    await runLoad(order);
    return async () => ({ value: await costOfPairs(house, order), reference: few });
  },
};

/** Median of five. */
async function costOfPairs(house: House, order: LoadOrder): Promise<number> {
  const costs: number[] = [];
  for (let count = 0; count < 5; count++) {
    const ours = await runLoad(order);
    const theirs = await runReference(house, 'pair', 32, order.seconds);
    costs.push(theirs.perSecond / ours.perSecond);
  }
  return median(costs);
}

/** Core's memory after ten minutes of steady load, against after one. */
export const memory: Row = {
  name: "core's memory after 10 minutes of load",
  unit: 'MiB',
  reference: 'after 1 minute, MiB',
  goal: { atMost: 1.1 },
  warmsUp: false,
  async prepare(house) {
    const order = { ...(await holdOrder(house, 32, SOAK_S, { capture: 'yes' })), perSecond: SOAK_PER_SECOND };
    return async () => {
      const load = runLoad(order);
      const early = await afterSeconds(60, house);
      const late = await afterSeconds(SOAK_S - 70, house);
      await load;
      return { value: late, reference: early };
    };
  },
};

async function afterSeconds(seconds: number, house: House): Promise<number> {
  await sleep(seconds * 1_000);
  const pid = (await readFile(`${house.dataDir}/run/core.pid`, 'utf8')).trim();
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

/** Stores captured holds of the past, with their results, up to a number. */
export async function storeHolds(house: House, merchantId: string, count: number): Promise<void> {
  const [stored] = await house.query<{ count: string }>('select count(*) from hold');
  const first = Number(stored?.count);
  if (count > first) await house.query(STORE_HOLDS, [merchantId, count - first, first]);
  await house.query('vacuum analyze');
}
