import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { runningMs } from '../running-ms.ts';

/** A killed worker's deliveries are taken again when their locks end, after 15 s. */
const PATIENCE_MS = 60_000;

/** Waits until something is so; fails after a minute in which this process ran. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  const endMs = runningMs() + PATIENCE_MS;
  while (!isSo()) {
    assert(runningMs() < endMs, what);
    await delay(10);
  }
}
