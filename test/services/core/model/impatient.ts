/**
 * Calls whose callers do not wait: too late, too many, or aborted. The first two must have no effect, the third has one
 * operation.
 */
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { DEADLINE_HEADER, type GrpcCall } from '../../../../platform/grpc-client.ts';
import { why } from '../stage.ts';
import type { Clients } from './ask.ts';
import type { Command } from './commands.ts';
import type { World } from './world.ts';

export type Impatience = 'deadline over' | 'too many' | 'cancelled';
export const IMPATIENCE: readonly Impatience[] = ['deadline over', 'too many', 'cancelled'];

export type Ask = (clients: Clients, call: GrpcCall) => Promise<unknown>;

/** How the caller is impatient. */
export function impatienceOf({ pick }: Command): Impatience {
  return IMPATIENCE[pick % IMPATIENCE.length] as Impatience;
}

/** Sends a call that must be refused. Returns the word of the refusal. */
export async function askInVain(world: World, impatience: Impatience, ask: Ask): Promise<string> {
  world.faults.happened(impatience);
  const late = { metadata: { [DEADLINE_HEADER]: String(Date.now() - 1) } };
  const call = impatience === 'too many' ? ask(world.fullCore, {}) : ask(world.cores[0], late);
  return await why(call);
}

/** Sends a call and aborts it sooner or later; repeating it under the same key returns its one operation. */
export async function breakOff(world: World, command: Command, ask: Ask): Promise<void> {
  world.faults.happened('cancelled');
  const leaving = new AbortController();
  const answered = ask(world.cores[command.pick % 2 === 0 ? 0 : 1], { signal: leaving.signal });
  const ended = answered.catch(() => undefined);
  for (let turns = 0; turns < command.pick; turns++) await turn();
  leaving.abort();
  await ended;
}

/**
 * Repeats a question while the first call runs under its key. A call that a crash has ended stays in flight as long as
 * the clock stands still; until then every caller gets an unknown outcome.
 */
export async function untilAnswered(ask: () => Promise<string>, mayHaveDied: boolean): Promise<string> {
  for (let tries = 0; tries < (mayHaveDied ? 40 : 2_000); tries++) {
    const reply = await ask();
    if (reply !== 'IDEMPOTENCY_IN_FLIGHT') return reply;
    await delay(10);
  }
  return 'UNKNOWN';
}
