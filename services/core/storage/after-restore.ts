import { audited } from './audit-log/audit-log.ts';
import { ADVISORY_LOCKS, type Database, sql } from './database.ts';
import { beginReconciling } from './reconciling.ts';

/** Where the sequences stand after they were moved. */
export interface MovedAhead {
  readonly operation: bigint;
  readonly change: bigint;
}

/**
 * Moves the sequences of results and of changes of credentials so far ahead that no number is given again that was
 * given after the time to which the database was restored, and begins reconciling. Audited.
 */
export function moveSequencesAhead(database: Database, at: Date): Promise<MovedAhead> {
  const action = { at, action: 'database.restored', target: 'database' };
  return audited(database, action, async (query) => {
    await query(LOCK, []);
    const [moved] = await query<MovedAhead>(MOVE, []);
    if (!moved) throw new Error('a sequence has a value');
    await beginReconciling(query);
    return moved;
  });
}

/** Thirty years of a thousand results a second; a sequence has room for nine million such steps. */
const STEP = 1_000_000_000_000n;

/** Who gives a number meanwhile waits: numbers must be committed in their order. */
const LOCK = sql('lock-sequences')`select pg_advisory_xact_lock(${ADVISORY_LOCKS.operationOrder}),
      pg_advisory_xact_lock(${ADVISORY_LOCKS.merchantChanges})`;

const MOVE = sql('move-sequences-ahead')`select
      setval('operation_sequence_seq', (select last_value from operation_sequence_seq) + ${STEP}) as operation,
      setval('merchant_change', (select last_value from merchant_change) + ${STEP}) as change`;
