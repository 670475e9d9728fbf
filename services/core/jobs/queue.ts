import { createHash } from 'node:crypto';
import pg from 'pg';
import { type Db, PgBoss } from 'pg-boss';
import { errorFields, type Log } from '../../../proto/log.ts';
import type { Query } from '../storage/database.ts';
import { StatementGather } from '../storage/statement-gather.ts';

/** When to look at a delivery. The delivery's row is the truth: an alarm too many, too early or lost does no harm. */
export interface Alarm {
  /** The delivery's id. There is at most one alarm per delivery. */
  readonly id: string;
  /** `merchantId/endpointKind`: alarms of one endpoint share a cap. */
  readonly endpoint: string;
  /** Milliseconds from now, by PostgreSQL's clock: that one decides what has gone off. Absent = now. */
  readonly inMs?: number | undefined;
}

/** An alarm that went off and is ours until it is settled or its time is over (then another worker gets it). */
export interface Rung {
  readonly id: string;
  readonly endpoint: string;
  /** Which taking of the alarm this is: settling an alarm that went to another worker meanwhile does nothing. */
  readonly retryCount: number;
}

export interface FetchOptions {
  readonly limit: number;
  /** Most alarms of one endpoint that are taken at once, over all workers. */
  readonly endpointLimit: number;
  /** Endpoints of which none are taken. */
  readonly without?: readonly string[];
  /** Take alarms that have not gone off yet, for whoever runs on a clock of his own. */
  readonly early?: boolean;
}

/** The queue of alarms: pg-boss, with one job per delivery that waits for an attempt. */
export interface Queue {
  /** Sets alarms, after the commit that wrote the deliveries. Never rejects: what is not set, the sweeper sets. */
  ring(alarms: readonly Alarm[]): Promise<void>;
  /** Sets alarms in the caller's transaction, or in one of its own. A delivery that has an alarm keeps the one it has. */
  set(alarms: readonly Alarm[], query?: Query): Promise<void>;
  /** Takes alarms that have gone off. */
  fetch(options: FetchOptions): Promise<Rung[]>;
  /** Removes alarms that were taken and sets the next ones, in the caller's transaction. */
  settle(query: Query, taken: readonly Rung[], next: readonly Alarm[]): Promise<void>;
  /** Moves one delivery's alarm, unless it has gone off or there is none. */
  move(id: string, inMs: number): Promise<void>;
  /** Moves all alarms of an endpoint that have not been taken. Answers how many. */
  moveAll(endpoint: string, inMs: number): Promise<number>;
  /** Calls back whenever an alarm was set that goes off at once; a hint only, so poll besides. */
  listen(onRing: () => void): Promise<void>;
  close(): Promise<void>;
}

/** Creates the queue's tables and the queue, or brings them up to date. Call it under the migration lock. */
export async function createQueues(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({ connectionString: databaseUrl, schema: SCHEMA, max: 2, supervise: false, schedule: false });
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

/**
 * Opens the queue with a small pool of its own. The role `core` only sets alarms; `worker` also takes them, and gives alarms that a
 * dead worker holds to a living one.
 */
export async function openQueue(databaseUrl: string, role: 'core' | 'worker', log: Log): Promise<Queue> {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    schema: SCHEMA,
    max: role === 'core' ? 1 : 2,
    connectionTimeoutMillis: CONNECT_MS,
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
    connectionString: databaseUrl,
    max: role === 'core' ? 1 : 4,
    connectionTimeoutMillis: CONNECT_MS,
    options: `${PLAN_FOR_A_LONG_QUEUE} ${FORGETFUL}`,
  });
  pool.on('error', (error) => log.error('queue_error', errorFields(error)));
  const db = planned(async ({ name, text }, values) => (await pool.query({ name, text, values: [...values] })).rows);
  const ringing = new StatementGather<Alarm, undefined>((alarms) => insert(boss, alarms, db), {
    maxBatch: 1_000,
    lanes: 1,
  });
  const listeners: { close(): Promise<void> }[] = [];
  return {
    async ring(alarms) {
      try {
        await Promise.all(alarms.map((alarm) => ringing.submit(alarm)));
      } catch (error) {
        // The sweeper sets them.
        log.warn('alarms_not_set', { ...errorFields(error), count: alarms.length });
      }
    },
    async set(alarms, query) {
      if (alarms.length > 0) await insert(boss, alarms, query ? planned(query) : db);
    },
    fetch: (options) => fetch(boss, options, db),
    async settle(query, taken, next) {
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
    async listen(onRing) {
      const listener = await boss.getDb().listen?.(
        ALARM_CHANNEL,
        (queue) => {
          if (queue === DELIVERY_QUEUE) onRing();
        },
        onRing,
      );
      if (listener) listeners.push(listener);
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

async function fetch(boss: PgBoss, options: FetchOptions, db: Db): Promise<Rung[]> {
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

/** pg-boss's statements under names, so that they are planned once per connection: planning them costs more than they do. */
function planned(query: Query): Db {
  return { executeSql: async (text, values) => ({ rows: await query({ name: nameOf(text), text }, values ?? []) }) };
}

const names = new Map<string, string>();

/** pg-boss writes the values of a call beside its statements, except how many jobs are fetched: BATCH_SIZES keeps those few. */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `queue-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  names.set(text, name);
  return name;
}

const BATCH_SIZES = [500, 200, 100, 50, 20, 10, 5, 2, 1];
const CONNECT_MS = 5_000;

const DELIVERY_QUEUE = 'delivery';
const SCHEMA = 'pgboss';

/** Where pg-boss announces new jobs (its plans.notifyChannelSql); jobs that go off later are not announced. */
export const ALARM_CHANNEL = `pgboss_${createHash('sha224').update(SCHEMA).digest('hex').slice(0, 24)}`;

/**
 * A queue is empty whenever its statistics are taken, and long when it matters: planned for an empty table, taking alarms sorts all
 * that have gone off (45 ms of 100 000). Without bitmap scans and sorts it walks the index in order, and stops when it has enough.
 */
const PLAN_FOR_A_LONG_QUEUE = '-c enable_bitmapscan=off -c enable_sort=off -c enable_seqscan=off';

/**
 * Setting and taking an alarm do not wait for the disk: what a crash of the server forgets is set again by the sweeper, or taken
 * again, since the delivery's row is the truth. Settling is part of a transaction of ours, which does wait.
 */
const FORGETFUL = '-c synchronous_commit=off';

const QUEUE_OPTIONS = {
  notify: true,
  /** An attempt ends after 10 s; an alarm held longer belongs to a dead worker and is taken by another one. */
  expireInSeconds: 15,
  /** Each death of a worker counts as a retry. An alarm that gave up would block its delivery, so none does. */
  retryLimit: 1_000_000,
  retryDelay: 0,
  /** An alarm may wait as long as an endpoint is paused; when it is lost nevertheless, the sweeper sets it again. */
  retentionSeconds: 30 * 86_400,
} as const;
