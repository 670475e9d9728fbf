import type { Clock } from '../../../platform/clock.ts';
import type { Log } from '../../../platform/log.ts';
import type { Database, Query } from '../storage/database.ts';
import { recordAttempts } from '../storage/delivery/record-attempts.ts';
import {
  type EndpointKey,
  type EndpointState,
  endpointName,
  lockEndpoints,
  writeEndpoints,
} from '../storage/endpoint/endpoint-row.ts';
import { tellOwners } from '../storage/endpoint/tell-owners.ts';
import { StatementGather } from '../storage/statement-gather.ts';
import { judgeEndpoint, type Tally } from './endpoint-breaker.ts';
import type { Attempt, MadeAttempt } from './make-attempt.ts';
import { noticesOf, withTold } from './owner-notices.ts';

/**
 * Returns what records an attempt with the new state of its delivery and endpoint, and tells the endpoint's owner;
 * concurrent ones share a commit. `expect` is called with endpoints that may have due deliveries now: those whose pause
 * has ended, and those that are told.
 */
export function openRecord(database: Database, clock: Clock, log: Log, expect: (endpoint: EndpointKey) => void) {
  const recordBatch = async (batch: readonly MadeAttempt[]): Promise<undefined[]> => {
    const records = batch.map(({ record }) => record);
    const attempts = attemptsToJudge(batch);
    if (attempts.length === 0) await recordAttempts(database.query, records);
    else {
      const { changes, told } = await database.transaction(async (query) => {
        const died = await recordAttempts(query, records);
        return judgeEndpoints(query, attempts, died, clock());
      });
      for (const change of changes) if (report(log, change)) expect(change.endpoint);
      for (const endpoint of told) expect(endpoint);
    }
    return batch.map(() => undefined);
  };
  const gather = new StatementGather<MadeAttempt, undefined>(recordBatch, { maxBatch: 500, lanes: 2 });
  return (attempt: MadeAttempt) => gather.submit(attempt);
}

/**
 * The attempts of a batch that show something about their endpoint, at endpoints whose state they may change, or whose
 * owner may be told. One that succeeds at an endpoint that has not failed before costs nothing.
 */
function attemptsToJudge(batch: readonly MadeAttempt[]): MadeAttempt[] {
  const telling = batch.filter(
    ({ verdict, record, endpointUrl }) => verdict !== undefined || (record.state === 'DEAD' && endpointUrl !== null),
  );
  const changing = telling.filter(({ verdict, troubled }) => troubled || verdict !== 'HEALTHY');
  const names = new Set(changing.map(({ endpoint }) => endpointName(endpoint)));
  return telling.filter(({ endpoint }) => names.has(endpointName(endpoint)));
}

function tallyOf(made: readonly MadeAttempt[]): Tally {
  const count = (verdict: Attempt['verdict']) => made.filter((each) => each.verdict === verdict).length;
  const error = made.findLast(({ record }) => record.error !== undefined)?.record.error;
  const gone = count('GONE') > 0;
  return { delivered: count('HEALTHY'), failed: count('FAILING'), refused: count('REFUSED'), gone, error };
}

/** Writes the new states of endpoints, and tells their owners. `died` has the ids of the deliveries that are dead now. */
async function judgeEndpoints(
  query: Query,
  attempts: readonly MadeAttempt[],
  died: ReadonlySet<string>,
  now: Date,
): Promise<{ readonly changes: readonly Change[]; readonly told: readonly EndpointKey[] }> {
  const madeAt = Map.groupBy(attempts, ({ endpoint }) => endpointName(endpoint));
  const endpoints = [...madeAt.values()].map(([made]) => (made as MadeAttempt).endpoint);
  const locked = await lockEndpoints(query, endpoints, now);
  const changes = locked.map(({ endpoint, url, state: before }) => {
    // An attempt at an address that has changed meanwhile shows nothing about the new one.
    const made = madeAt.get(endpointName(endpoint))?.filter(({ endpointUrl }) => endpointUrl === url) ?? [];
    const judged = judgeEndpoint(before, tallyOf(made), now);
    const notices = noticesOf(endpoint, { before, after: judged }, made, died);
    return { endpoint, before, after: withTold(judged, notices), notices };
  });
  await writeEndpoints(
    query,
    changes.map(({ endpoint, after }) => ({ ...endpoint, ...after })),
    now,
  );
  const notices = changes.flatMap((change) => change.notices);
  return { changes, told: await tellOwners(query, notices, now) };
}

/** An endpoint's state before and after a batch. */
interface Change {
  readonly endpoint: EndpointKey;
  readonly before: EndpointState;
  readonly after: EndpointState;
}

/** Logs a pause that begins or ends. Returns true when it has ended. */
function report(log: Log, { endpoint, before, after }: Change): boolean {
  const { pause, pausedUntil, failureCount: count } = after;
  const line = { ...endpoint, count };
  if (pausedUntil && pausedUntil.getTime() !== before.pausedUntil?.getTime()) {
    log.warn('endpoint_paused', { pause: 'BREAKER', ...line, pausedUntil: pausedUntil.toISOString() });
  } else if (pause === 'GONE' && before.pause !== 'GONE') {
    log.warn('endpoint_paused', { pause: 'GONE', ...line });
  }
  const hasEnded = pause === null && before.pause !== null;
  if (hasEnded) log.info('endpoint_resumed', line);
  return hasEnded;
}
