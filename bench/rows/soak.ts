import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { House } from '../house.ts';
import { runLoad } from '../load.ts';
import type { Row } from '../row.ts';
import { holdOrder } from './calls.ts';

const SOAK_S = 600;
const SOAK_PER_SECOND = 200;

/** Core's memory after ten minutes of steady load, against after one. */
export const memory: Row = {
  name: "core's memory after 10 minutes of load",
  unit: 'MiB',
  reference: 'after 1 minute, MiB',
  goal: { atMost: 1.1 },
  warmsUp: false,
  repetitions: 1,
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
