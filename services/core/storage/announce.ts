import { type Database, sql } from './database.ts';
import { StatementGather } from './statement-gather.ts';

/**
 * Channel on which commits with results or deliveries are announced, after the commit: within it, the announcement's
 * database-wide lock would be held over the flush to disk. The payload names an endpoint with a delivery that is due,
 * as endpointName() does; '' = only results. Listeners poll besides, so a lost announcement costs half a second.
 */
export const COMMIT_CHANNEL = 'holdfast_commit';

/** Announces a commit by the endpoints that it has deliveries for, if any. Never fails, waits for nothing. */
export type Announce = (endpoints: readonly string[]) => void;

/** Opens announcements; those made while one is on its way share the next. */
export function openAnnounce(database: Database): Announce {
  const gather = new StatementGather<string, undefined>(
    async (endpoints) => {
      await database.query(ANNOUNCE, [[...new Set(endpoints)]]);
      return endpoints.map(() => undefined);
    },
    { maxBatch: 10_000, lanes: 1, maxWaitMs: 1_000 },
  );
  return (endpoints) => {
    for (const endpoint of endpoints.length === 0 ? [''] : new Set(endpoints)) {
      gather.submit(endpoint).catch(() => undefined);
    }
  };
}

/** A NOTIFY alone is a transaction of its own; it may be lost, so its commit does not wait for the disk. */
const ANNOUNCE = sql('announce-commit')`select pg_notify('${COMMIT_CHANNEL}', endpoint)
    from (select set_config('synchronous_commit', 'off', true)) no_wait, unnest($1::text[]) endpoint`;
