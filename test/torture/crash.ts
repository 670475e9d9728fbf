/** Kills core and worker with -9 under load. */
import { setTimeout as delay } from 'node:timers/promises';
import { askAgain, checkBought, openHouse, startBuyers, untilSettled, untilTold } from './buyers.ts';
import { chance } from './chance.ts';
import type { TortureOptions } from './options.ts';

const BUYERS = 12;
/** Core's own grace for an unanswered call, a few inquiries, and a slow machine. */
const RECOVERY_MS = 60_000;
/** From this number of kills on, deliveries in progress at a killed worker are waited for too. */
const LONG = 20;

/**
 * Kills core, and every third time the worker. Returns figures; throws when anything was lost, done twice or is stuck.
 */
export async function tortureCrash({ seed, runs = 50 }: TortureOptions): Promise<string[]> {
  const house = await openHouse();
  try {
    const random = chance(seed);
    const buyers = startBuyers(house, BUYERS);
    for (let kill = 0; kill < runs; kill++) {
      await untilBusy(buyers);
      await delay(random() * 300);
      for (const member of kill % 3 === 2 ? [house.worker] : house.cores) {
        await member.kill();
        await member.start();
      }
    }
    const bought = await buyers.stop();
    const settledMs = await untilSettled(house, RECOVERY_MS);
    return [
      `${runs} kills with -9 under ${BUYERS} buyers; everything settled ${Math.round(settledMs)} ms after the last`,
      await askAgain(bought),
      ...(await checkBought(house, bought)),
      ...(runs >= LONG ? [await untilTold(house, RECOVERY_MS)] : []),
    ];
  } finally {
    await house.close();
  }
}

/** A kill must interrupt something: waits until buyers are served again. */
async function untilBusy(buyers: ReturnType<typeof startBuyers>): Promise<void> {
  const before = buyers.answered();
  while (buyers.answered() < before + BUYERS) await delay(10);
}
