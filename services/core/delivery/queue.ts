import { createHash } from 'node:crypto';
import pg from 'pg';
import { type Db, PgBoss } from 'pg-boss';
import { connectionOptions } from '../../../platform/database-client.ts';
import { errorFields, type Log } from '../../../platform/log.ts';
import type { Query } from '../storage/database.ts';
import { listen } from '../storage/listen.ts';
import { TIME_LIMITS } from '../storage/open-database.ts';
import { StatementGather } from '../storage/statement-gather.ts';

/** When to look at a delivery. The delivery's row decides: a superfluous, early or lost alarm does no harm. */
export interface Alarm {
  /** The delivery's id. There is at most one alarm per delivery. */
  readonly id: string;
  /** `merchantId/endpointKind`: alarms of one endpoint share a cap. */
  readonly endpoint: string;
  /** Milliseconds from now, by PostgreSQL's clock, which decides whether an alarm is due. Absent = now. */
  readonly inMs?: number | undefined;
}

/** An alarm that this worker has taken. Unless it is replaced within 15 s, another worker gets it. */
export interface TakenAlarm {
  readonly id: string;
  readonly endpoint: string;
  /** How often it was taken before: replacing an alarm that another worker has taken meanwhile does nothing. */
  readonly retryCount: number;
}

export interface FetchOptions {
  readonly limit: number;
  /** Most alarms of one endpoint that are taken at once, over all workers. */
  readonly endpointLimit: number;
  /** Endpoints of which none are taken. */
  readonly without?: readonly string[];
  /** Take alarms that are not due yet: for tests, whose clock is their own. */
  readonly early?: boolean;
}

/** The queue of alarms: pg-boss, with one job per delivery that waits for an attempt. */
export interface Queue {
  /** Sets alarms after the commit that wrote the deliveries. Never rejects: the sweeper sets those that were not set. */
  trySet(alarms: readonly Alarm[]): Promise<void>;
  /** Sets alarms. A delivery that has an alarm keeps the one it has. */
  set(alarms: readonly Alarm[]): Promise<void>;
  /** Takes alarms that are due. */
  fetch(options: FetchOptions): Promise<TakenAlarm[]>;
  /** Removes alarms that were taken and sets the next ones, in the caller's transaction. */
  replace(query: Query, taken: readonly TakenAlarm[], next: readonly Alarm[]): Promise<void>;
  /** Moves one delivery's alarm, unless it was taken or there is none. */
  move(id: string, inMs: number): Promise<void>;
  /** Moves all alarms of an endpoint that were not taken. Returns their number. */
  moveAll(endpoint: string, inMs: number): Promise<number>;
  /** Calls back when an alarm was set that is due at once. Some are missed, so callers poll as well. */
  listen(onAlarm: () => void): void;
  close(): Promise<void>;
}

/** Creates the queue's tables and the queue, or brings them up to date. Call it under the migration lock. */
export async function createQueues(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({
    ...connectionOptions(databaseUrl),
    schema: SCHEMA,
    max: 2,
    supervise: false,
    schedule: false,
  });
  let problem: unknown;
  boss.on('error', (error) => {
    problem = error;
  });
  await boss.start();
  try {
    await boss.createQueue(DELIVERY_QUEUE, QUEUE_OPTIONS);
    await boss.updateQueue(DELIVERY_QUEUE, QUEUE_OPTIONS);
  } finally {
    await boss.stop({ graceful: false });
  }
  if (problem) throw problem;
}

/** Opens the queue with a small pool of its own. The role `core` only sets alarms; `worker` also takes them, and frees those of dead workers. */
export async function openQueue(databaseUrl: string, role: 'core' | 'worker', log: Log): Promise<Queue> {
  const boss = new PgBoss({
    ...connectionOptions(databaseUrl),
    ...TIME_LIMITS,
    schema: SCHEMA,
    max: role === 'core' ? 1 : 2,
    options: PLAN_FOR_A_LONG_QUEUE,
    migrate: false,
    schedule: false,
    supervise: role === 'worker',
    superviseIntervalSeconds: 2,
    monitorIntervalSeconds: 2,
  });
  boss.on('error', (error) => log.error('queue_error', errorFields(error)));
  boss.on('warning', ({ message }) => log.warn('queue_warning', { reason: message }));
  await boss.start();
  const pool = new pg.Pool({
    ...connectionOptions(databaseUrl),
    ...TIME_LIMITS,
    max: role === 'core' ? 1 : 4,
    options: `${PLAN_FOR_A_LONG_QUEUE} ${NO_WAIT_FOR_DISK}`,
  });
  pool.on('error', (error) => log.error('queue_error', errorFields(error)));
  const db = planned(async ({ name, text }, values) => (await pool.query({ name, text, values: [...values] })).rows);
  const gather = new StatementGather<Alarm, undefined>((alarms) => insert(boss, alarms, db), {
    maxBatch: 1_000,
    lanes: 1,
  });
  const listeners: { close(): Promise<void> }[] = [];
  return {
    async trySet(alarms) {
      try {
        await Promise.all(alarms.map((alarm) => gather.submit(alarm)));
      } catch (error) {
        // The sweeper sets them.
        log.warn('alarms_not_set', { ...errorFields(error), count: alarms.length });
      }
    },
    async set(alarms) {
      if (alarms.length > 0) await insert(boss, alarms, db);
    },
    fetch: (options) => fetch(boss, options, db),
    async replace(query, taken, next) {
      const db = planned(query);
      const jobs = taken.map(({ id, retryCount }) => ({ id, retryCount }));
      if (jobs.length > 0) await boss.deleteJob(DELIVERY_QUEUE, jobs, { db });
      if (next.length > 0) await insert(boss, next, db);
    },
    async move(id, inMs) {
      await boss.update(DELIVERY_QUEUE, undefined, { id, startAfter: fromNow(inMs) });
    },
    async moveAll(endpoint, inMs) {
      const { updated } = await boss.update(DELIVERY_QUEUE, undefined, {
        singletonKey: endpoint,
        match: 'all',
        startAfter: fromNow(inMs),
      });
      return updated;
    },
    listen(onAlarm) {
      const heard = (queue: string) => {
        if (queue === DELIVERY_QUEUE) onAlarm();
      };
      listeners.push(listen({ databaseUrl, channels: [ALARM_CHANNEL], log, heard, connected: onAlarm }));
    },
    async close() {
      for (const listener of listeners) await listener.close();
      await boss.stop({ graceful: false });
      await pool.end();
    },
  };
}

async function insert(boss: PgBoss, alarms: readonly Alarm[], db: Db): Promise<undefined[]> {
  const jobs = alarms.map(({ id, endpoint, inMs }) => ({
    id,
    singletonKey: endpoint,
    group: { id: endpoint },
    ...(inMs !== undefined && { startAfter: fromNow(inMs) }),
  }));
  await boss.insert(DELIVERY_QUEUE, [...new Map(jobs.map((job) => [job.id, job])).values()], { db });
  return [];
}

/** pg-boss adds an interval to PostgreSQL's now; a date would be compared with it, whatever our own clock says. */
function fromNow(inMs: number): string {
  return `${inMs} milliseconds`;
}

async function fetch(boss: PgBoss, options: FetchOptions, db: Db): Promise<TakenAlarm[]> {
  const { limit, endpointLimit, without, early } = options;
  const jobs = await boss.fetch(DELIVERY_QUEUE, {
    db,
    batchSize: BATCH_SIZES.find((size) => size <= limit) ?? 1,
    groupConcurrency: endpointLimit,
    ignoreGroups: without ? [...without] : null,
    ignoreStartAfter: early ?? false,
  });
  return jobs.map(({ id, groupId, retryCount }) => ({ id, endpoint: groupId ?? '', retryCount }));
}

/** Names pg-boss's statements, so that they are planned once per connection: planning costs more than running them. */
function planned(query: Query): Db {
  return { executeSql: async (text, values) => ({ rows: await query({ name: nameOf(text), text }, values ?? []) }) };
}

const names = new Map<string, string>();

/** pg-boss binds all values except how many jobs to fetch, which is in the text: BATCH_SIZES keeps the number of texts small. */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `queue-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  names.set(text, name);
  return name;
}

const BATCH_SIZES = [500, 200, 100, 50, 20, 10, 5, 2, 1];

const DELIVERY_QUEUE = 'delivery';
const SCHEMA = 'pgboss';

/** Where pg-boss announces new jobs (its plans.notifyChannelSql); jobs that go off later are not announced. */
export const ALARM_CHANNEL = `pgboss_${createHash('sha224').update(SCHEMA).digest('hex').slice(0, 24)}`;

/**
 * The queue is usually empty when PostgreSQL takes statistics. Planned for an empty table, taking alarms sorts all that are due (45 ms
 * with 100 000). Without bitmap scans and sorts it reads the index in order and stops at the limit.
 */
const PLAN_FOR_A_LONG_QUEUE = '-c enable_bitmapscan=off -c enable_sort=off -c enable_seqscan=off';

/**
 * Setting and taking alarms does not wait for the disk. After a crash of the server, the sweeper sets lost alarms again. Replacing
 * alarms is part of a transaction of ours, which does wait.
 */
const NO_WAIT_FOR_DISK = '-c synchronous_commit=off';

const QUEUE_OPTIONS = {
  notify: true,
  /** An attempt takes at most 10 s; an alarm held longer belongs to a dead worker, and another one takes it. */
  expireInSeconds: 15,
  /** Each death of a worker counts as a retry. A failed job would block its delivery, so the limit is never reached. */
  retryLimit: 1_000_000,
  retryDelay: 0,
  /** An alarm waits while its endpoint is paused. If it is deleted before, the sweeper sets it again. */
  retentionSeconds: 30 * 86_400,
} as const;
