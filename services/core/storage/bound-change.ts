/**
 * Binds a change to the answer its caller gets: nothing is committed after the caller's deadline, and a commit without
 * a known result does not count as failed.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { NotSent, ResultLost } from '../../../platform/gather.ts';
import { type OrmDatabase, type Query, sql } from './database.ts';
import { isDatabaseAway, isResultLost } from './database-errors.ts';
import { entityManager } from './orm.ts';

interface BoundCall {
  /** By PostgreSQL's clock; undefined = none. */
  readonly deadline: Date | undefined;
  /** True once something was or may have been committed. */
  mayBeStored: boolean;
}

const calls = new AsyncLocalStorage<BoundCall>();

/**
 * Runs a call that makes changes. Rejects with NotSent when its deadline was over before its commit, and with
 * ResultLost when the database is away after something was committed, or may have been.
 */
export async function bindingChanges<T>(deadline: Date | undefined, run: () => Promise<T>): Promise<T> {
  const call = { deadline, mayBeStored: false };
  try {
    return await calls.run(call, run);
  } catch (error) {
    if (!call.mayBeStored || !isDatabaseAway(error)) throw error;
    throw new ResultLost('it is not known whether the change was stored', { cause: error });
  }
}

/** The deadline of the current call, for a statement that commits by itself: it must compare it. */
export function deadlineOfCall(): Date | undefined {
  return calls.getStore()?.deadline;
}

/** Throws NotSent when the deadline of the current call is over, by PostgreSQL's clock. */
export async function demandInTime(query: Query): Promise<void> {
  const deadline = deadlineOfCall();
  if (deadline === undefined) return;
  const [{ late } = { late: true }] = await query<{ late: boolean }>(IS_LATE, [deadline]);
  if (late) throw new NotSent('LATE');
}

const IS_LATE = sql('is-late')`select $1::timestamptz <= clock_timestamp() as late`;

/** Runs what commits a change of the current call, and calls `begins` right before it does. */
export async function committing<T>(run: (begins: () => void) => Promise<T>): Promise<T> {
  const call = calls.getStore();
  if (!call) return run(() => undefined);
  const before = call.mayBeStored;
  try {
    return await run(() => {
      call.mayBeStored = true;
    });
  } catch (error) {
    if (!isResultLost(error)) call.mayBeStored = before;
    throw error;
  }
}

/** Runs a change with the ORM in one transaction. */
export function ormTransaction<T>(database: OrmDatabase, run: (em: SqlEntityManager) => Promise<T>): Promise<T> {
  return committing((begins) =>
    entityManager(database).transactional(async (em) => {
      const answer = await run(em);
      await em.flush();
      // The ORM runs it in its own transaction, and writes placeholders in its own way.
      await demandInTime(({ text }, values) => em.execute(text.replace('$1', '?'), [...values]));
      begins();
      return answer;
    }),
  );
}
