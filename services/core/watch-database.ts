import { errorFields, type Log, type LogFields } from '../../proto/log.ts';
import { every } from './jobs/every.ts';
import { settlesWithin } from './settles-within.ts';
import type { Database } from './storage/database.ts';
import { probe } from './storage/probe.ts';

/** Whether this process can work: its database answers and can be written to, and the two clocks agree. */
export interface DatabaseWatch {
  isUsable(): boolean;
  /** How far this process's clock is ahead of the database's, seconds; undefined until it was measured. */
  clockOffsetS(): number | undefined;
  /** False = the clocks are too far apart for what time decides: expiry, inquiries, attempts. */
  isClockSound(): boolean;
  close(): Promise<void>;
}

export interface DatabaseWatchParts {
  readonly database: Pick<Database, 'query' | 'dropIdle'>;
  readonly log: Log;
  /** Called after each look. */
  readonly onLook?: (isUsable: boolean) => void;
  /** Between two looks, milliseconds. */
  readonly intervalMs?: number;
  /** This process's clock, milliseconds since the epoch. */
  readonly wallClock?: () => number;
}

/** Watches the database. Resolves after the first look at it. */
export async function watchDatabase(parts: DatabaseWatchParts): Promise<DatabaseWatch> {
  const { database, log, onLook, intervalMs = 1_000, wallClock = Date.now } = parts;
  let usable: boolean | undefined;
  let offsetMs: number | undefined;
  let isOff = false;
  let underWay = 0;

  /** Undefined = it answers and can be written to; else why not. */
  const ask = async (): Promise<LogFields | undefined> => {
    const before = wallClock();
    const { isWritable, nowMs } = await probe(database.query);
    const after = wallClock();
    // The answer was made at some time between the two.
    offsetMs = nowMs < before ? before - nowMs : nowMs > after ? after - nowMs : 0;
    return isWritable ? undefined : { reason: 'read-only' };
  };

  const look = async (): Promise<void> => {
    // Probes that hang must not use up the pool; each ends with the time limit of its statement.
    if (underWay >= MOST_PROBES) return report(SILENT);
    underWay++;
    let why: LogFields | undefined = SILENT;
    const asked = ask()
      .then(
        (problem) => {
          why = problem;
        },
        (error) => {
          why = errorFields(error);
        },
      )
      .finally(() => {
        underWay--;
      });
    await settlesWithin(PROBE_TIMEOUT_MS, asked);
    report(why);
    // Connections that were opened while it was read-only may stay so.
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
    onLook?.(isUsable);
  };
  const isSound = () => Math.abs(offsetMs ?? 0) <= UNSOUND_MS;

  await look();
  const repetition = every({ name: 'watch-database', intervalMs, runOnce: look }, log);
  return {
    isUsable: () => usable === true,
    clockOffsetS: () => (offsetMs === undefined ? undefined : offsetMs / 1_000),
    isClockSound: isSound,
    close: () => repetition.close(),
  };
}

const SILENT: LogFields = { reason: 'no answer' };
const PROBE_TIMEOUT_MS = 3_000;
const MOST_PROBES = 3;
/** Machines' clocks agree within a second. */
const WARN_MS = 1_000;
const UNSOUND_MS = 30_000;
