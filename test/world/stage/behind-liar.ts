/** A core behind a processor that lies about one merchant, in this process, whose database can go back to any moment. */

import { rememberBeginning } from '../../services/core/time-machine.ts';
import { openLiarsHouse } from '../../torture/liar/round.ts';

export type BehindLiar = Awaited<ReturnType<typeof openBehindLiar>>;

/** Starts them, with a merchant who is lied to and one who is not. */
export async function openBehindLiar() {
  const house = await openLiarsHouse();
  return { ...house, beginAnew: await rememberBeginning(house.stage) };
}
