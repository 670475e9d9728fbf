import { timestampMs } from '@bufbuild/protobuf/wkt';
import { DEADLINE_HEADER } from '../../platform/grpc-client.ts';
import type { Log } from '../../platform/log.ts';
import { runPeriodically } from '../../platform/periodic-job.ts';
import { isServiceError } from '../http/problem.ts';
import type { Core } from './client.ts';

export type ClockWatch = ReturnType<typeof watchClock>;

const EVERY_MS = 5_000;
/** Machines' clocks agree within a second. */
const WARN_MS = 1_000;
/** After every change number: core answers its clock and no changes. */
export const NEVER = 2n ** 63n - 1n;

/**
 * A deadline in absolute time would be over at core when this clock is far behind, and the difference would stay
 * unknown. The call still has its timeout.
 */
const AT_ANY_TIME = { metadata: { [DEADLINE_HEADER]: '9'.repeat(15) } };

/**
 * Compares this process's clock with core's, now and every few seconds. Deadlines of calls are times, so a clock that
 * is behind by CORE_TIMEOUT_MS would have each write refused; from half of that on it is not sound.
 */
export function watchClock(core: Pick<Core, 'merchants'>, timeoutMs: number, log: Log) {
  let offsetMs: number | undefined;
  const isOffBy = (ms: number) => Math.abs(offsetMs ?? 0) > ms;

  async function runOnce(): Promise<void> {
    const before = Date.now();
    const { now } = await core.merchants.listCredentialChanges({ afterChangeNumber: NEVER }, AT_ANY_TIME);
    const after = Date.now();
    if (now === undefined) return;
    const wasOff = isOffBy(WARN_MS);
    // Core answered at some time between the two.
    const nowMs = timestampMs(now);
    offsetMs = nowMs < before ? before - nowMs : Math.min(0, after - nowMs);
    if (isOffBy(WARN_MS) && !wasOff) log.error('clock_off', { clockOffsetS: offsetMs / 1_000 });
  }

  /** That core is away is logged elsewhere. */
  const ignoreAway = (error: unknown) => {
    if (!isServiceError(error)) throw error;
  };
  const job = runPeriodically(
    { name: 'watch-clock', intervalMs: EVERY_MS, runOnce: () => runOnce().catch(ignoreAway) },
    log,
  );
  return {
    /** Seconds that this clock is ahead; undefined until it was measured. */
    offsetS: () => (offsetMs === undefined ? undefined : offsetMs / 1_000),
    /** False = so far apart that core would refuse calls as overdue, or take some that are. */
    isSound: () => !isOffBy(timeoutMs / 2),
    runOnce: job.runOnce,
    close: job.close,
  };
}
