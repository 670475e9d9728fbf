/** A processor that breaks each rule of its contract, alone and in pairs: see test/torture/liar/lies.ts. */
import { chance } from './chance.ts';
import { LIES, type Row } from './liar/lies.ts';
import { emptyTally } from './liar/operator.ts';
import { openHouse, playRound } from './liar/round.ts';
import type { TortureOptions } from './options.ts';

/** A fresh database now and then keeps the rounds fast. */
const ROUNDS_OF_A_HOUSE = 20;

/**
 * Plays rounds until the time is over: each row of the table once, in random order, then pairs. With `runs`, as many
 * rounds. Throws with the names of the lies and the seed of a failure.
 */
export async function tortureLiar({ seed, runs, minutes = 30, tell }: TortureOptions): Promise<string[]> {
  const random = chance(seed);
  const any = () => LIES[Math.floor(random() * LIES.length)] as Row;
  const alone = LIES.map((row) => ({ row, place: random() })).sort((a, b) => a.place - b.place);
  const endMs = performance.now() + minutes * 60_000;
  const tally = emptyTally();
  let house = await openHouse();
  let round = 0;
  try {
    for (; runs === undefined ? performance.now() < endMs : round < runs; round++) {
      if (round > 0 && round % ROUNDS_OF_A_HOUSE === 0) {
        await house.close();
        house = await openHouse();
      }
      const rows = round < alone.length && runs === undefined ? [alone[round]?.row ?? any()] : [any(), any()];
      const names = rows.map(({ name }) => name).join(' + ');
      await playRound(house, rows, tally).catch((cause) => {
        throw new Error(`round ${round}, ${names}: ${(cause as Error).message}`, { cause });
      });
      tell?.(`${String(round + 1).padStart(4)} ${names}`);
    }
  } finally {
    await house.close();
  }
  const counts = Object.entries(tally).map(([what, count]) => `${String(count).padStart(7)} ${what}`);
  return [
    `${round} rounds of ${LIES.length} lies: each operation ended, was decided or unfrozen; no list failed`,
    ...counts,
  ];
}
