/**
 * Sends captures from a process of its own, whose event loop and connections are not those that measure the neighbour.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FloodAnswer, FloodOptions } from './flood-process.ts';

/** Sends all calls of a flood. Resolves with the answers; rejects when the process fails. */
export async function sendFlood(options: FloodOptions): Promise<FloodAnswer[]> {
  const child = fork(fileURLToPath(new URL('flood-process.ts', import.meta.url)), [JSON.stringify(options)]);
  const exited = once(child, 'exit').then(([code]) => code);
  const answers = await Promise.race([once(child, 'message').then(([message]) => message), exited]);
  if (!Array.isArray(answers)) throw new Error(`the flood ended with exit code ${answers}`);
  await exited;
  return answers;
}
