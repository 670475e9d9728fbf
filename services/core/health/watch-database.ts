import { CALL_DEADLINE_MS } from '../../../platform/call-deadline.ts';
import { StandbyError } from '../../../platform/database-client.ts';
import { errorFields, type Log, type LogFields } from '../../../platform/log.ts';
import { runPeriodically } from '../../../platform/periodic-job.ts';
import { settlesWithin } from '../../../platform/settles-within.ts';
import type { Database } from '../storage/database.ts';
import { probe } from '../storage/probe.ts';
import { noticeTimeline } from '../storage/reconciling.ts';

export type DatabaseWatch = Awaited<ReturnType<typeof watchDatabase>>;

export interface DatabaseWatchParts {
  readonly database: Pick<Database, 'query' | 'dropIdle'>;
  readonly log: Log;
  /** Called after each probe. */
  readonly onProbe?: (isUsable: boolean) => void;
  /** A standby that takes over has every commit (SYNCHRONOUS_STANDBY), so that a new timeline loses nothing. */
  readonly isStandbyComplete?: boolean;
  /** Between two probes, milliseconds. */
  readonly intervalMs?: number;
  /** This process's clock, milliseconds since the epoch. */
  readonly wallClock?: () => number;
}

/** Watches whether the database answers and is writable, and the two clocks agree. Resolves after the first probe. */
export async function watchDatabase(parts: DatabaseWatchParts) {
  const { database, log, onProbe, isStandbyComplete = false, intervalMs = 1_000, wallClock = Date.now } = parts;
  let usable: boolean | undefined;
  let offsetMs: number | undefined;
  let isOff = false;
  let underWay = 0;
  const alone = watchStandby(isStandbyComplete);

  /** Returns undefined when the database is usable, else the reason. */
  const ask = async (): Promise<LogFields | undefined> => {
    const before = wallClock();
    const { isWritable, hasStandby, nowMs, isTimelineNew } = await probe(database.query);
    const after = wallClock();
    if (isWritable) alone.seen(hasStandby);
    // The database answered at some time between the two.
    offsetMs = Math.min(Math.max(nowMs, before), after) - nowMs;
    if (isWritable && isTimelineNew && (await noticeTimeline(database.query, isStandbyComplete))) {
      // A standby that had everything took over: nothing is lost, and nobody needs to do anything about the books.
      if (isStandbyComplete) log.warn('timeline_new', { state: 'COMPLETE' });
      else log.error('timeline_new', { state: 'RECONCILING' });
    }
    return isWritable ? undefined : { reason: 'read-only' };
  };

  const probeOnce = async (): Promise<void> => {
    // Hanging probes must not use up the pool; each ends at its statement timeout.
    if (underWay >= MAX_PROBES) return report(SILENT);
    underWay++;
    let why: LogFields | undefined = SILENT;
    const asked = ask()
      .catch((error) => (error instanceof StandbyError ? STANDBY : errorFields(error)))
      .then((problem) => {
        why = problem;
        underWay--;
      });
    await settlesWithin(PROBE_TIMEOUT_MS, asked);
    report(why);
    // Connections opened while the database was read-only may stay read-only.
    if (why !== undefined)
      await settlesWithin(
        PROBE_TIMEOUT_MS,
        database.dropIdle().catch(() => undefined),
      );
  };

  const report = (why: LogFields | undefined): void => {
    const isUsable = why === undefined && isSound();
    if (usable !== isUsable) {
      if (why !== undefined) log.warn('database_away', why);
      log.info('health', { serving: isUsable });
    }
    usable = isUsable;
    const wasOff = isOff;
    isOff = Math.abs(offsetMs ?? 0) > WARN_MS;
    if (isOff && !wasOff) log.error('clock_off', { clockOffsetS: (offsetMs ?? 0) / 1_000 });
    onProbe?.(isUsable);
  };
  const isSound = () => Math.abs(offsetMs ?? 0) <= UNSOUND_MS;

  await probeOnce();
  const job = runPeriodically({ name: 'watch-database', intervalMs, runOnce: probeOnce }, log);
  return {
    isUsable: () => usable === true,
    /** Seconds by which this process's clock is ahead of the database's; undefined until it was measured. */
    clockOffsetS: () => (offsetMs === undefined ? undefined : offsetMs / 1_000),
    /** For how long the primary has been seen to serve without its synchronous standby, seconds. */
    aloneS: alone.ageS,
    /** False = the clocks differ too much to decide what is due, or old enough to delete. */
    isClockSound: isSound,
    close: () => job.close(),
  };
}

/** Keeps since when a primary has been alone. One that never had a standby and is not said to have one is not alone. */
function watchStandby(isExpected: boolean) {
  let hadOne = isExpected;
  let sinceMs: number | undefined;
  return {
    seen(hasStandby: boolean): void {
      hadOne ||= hasStandby;
      sinceMs = hasStandby || !hadOne ? undefined : (sinceMs ?? performance.now());
    },
    ageS: () => (sinceMs === undefined ? 0 : (performance.now() - sinceMs) / 1_000),
  };
}

const SILENT: LogFields = { reason: 'no answer' };
const STANDBY: LogFields = { reason: 'standby' };
const PROBE_TIMEOUT_MS = 3_000;
const MAX_PROBES = 3;
/** Machines' clocks agree within a second. */
const WARN_MS = 1_000;
/**
 * Deadlines of calls are compared with the database's clock: a database that is ahead by a whole one would refuse every
 * write.
 */
const UNSOUND_MS = CALL_DEADLINE_MS / 2;
