import assert from 'node:assert/strict';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';

/** Clocks may differ by so much. */
const SKEW_MS = 5 * 60_000;

/** Demands of a time that it lies within this run. */
export function demandDuringRun(startedMs: number, time: Timestamp | undefined, what: string): void {
  if (!time) return;
  const ms = timestampMs(time);
  assert(
    ms > startedMs - SKEW_MS && ms < Date.now() + SKEW_MS,
    `${what} is ${new Date(ms).toISOString()}, not a time of this run`,
  );
}
