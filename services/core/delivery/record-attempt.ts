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
import { StatementGather } from '../storage/statement-gather.ts';
import { judgeEndpoint, type Tally } from './endpoint-breaker.ts';
import type { Attempt } from './make-attempt.ts';

/** An attempt that was made, and at which endpoint. */
export interface MadeAttempt extends Attempt {
  readonly endpoint: EndpointKey;
  /** The endpoint's address when the attempt began; null = it had none. */
  readonly endpointUrl: string | null;
  /** True when the endpoint had failures before: a success then changes its state. */
  readonly troubled: boolean;
}

/**
 * Returns what records an attempt with the new state of its delivery and endpoint; concurrent ones share a commit.
 * `onResumed` is called when an endpoint's pause has ended.
 */
export function openRecord(database: Database, clock: Clock, log: Log, onResumed: (endpoint: EndpointKey) => void) {
  const recordBatch = async (batch: readonly MadeAttempt[]): Promise<undefined[]> => {
    const records = batch.map(({ record }) => record);
    const attempts = attemptsToJudge(batch);
    if (attempts.length === 0) await recordAttempts(database.query, records);
    else {
      const changes = await database.transaction(async (query) => {
        await recordAttempts(query, records);
        return judgeEndpoints(query, attempts, clock());
      });
      for (const change of changes) if (report(log, change)) onResumed(change.endpoint);
    }
    return batch.map(() => undefined);
  };
  const gather = new StatementGather<MadeAttempt, undefined>(recordBatch, { maxBatch: 500, lanes: 2 });
  return (attempt: MadeAttempt) => gather.submit(attempt);
}

/**
 * The attempts of a batch that show something about their endpoint, at endpoints whose state they may change. One that
 * succeeds at an endpoint that has not failed before costs nothing.
 */
function attemptsToJudge(batch: readonly MadeAttempt[]): MadeAttempt[] {
  const telling = batch.filter(({ verdict }) => verdict !== undefined);
  const changing = telling.filter(({ verdict, troubled }) => troubled || verdict !== 'HEALTHY');
  const names = new Set(changing.map(({ endpoint }) => endpointName(endpoint)));
  return telling.filter(({ endpoint }) => names.has(endpointName(endpoint)));
}

function tallyOf(made: readonly MadeAttempt[]): Tally {
  const count = (verdict: Attempt['verdict']) => made.filter((each) => each.verdict === verdict).length;
  return { delivered: count('HEALTHY'), failed: count('FAILING'), refused: count('REFUSED'), gone: count('GONE') > 0 };
}

async function judgeEndpoints(query: Query, attempts: readonly MadeAttempt[], now: Date): Promise<Change[]> {
  const madeAt = Map.groupBy(attempts, ({ endpoint }) => endpointName(endpoint));
  const endpoints = [...madeAt.values()].map(([made]) => (made as MadeAttempt).endpoint);
  const locked = await lockEndpoints(query, endpoints, now);
  const changes = locked.map(({ endpoint, url, state: before }) => {
    // An attempt at an address that has changed meanwhile shows nothing about the new one.
    const made = madeAt.get(endpointName(endpoint))?.filter(({ endpointUrl }) => endpointUrl === url) ?? [];
    return { endpoint, before, after: judgeEndpoint(before, tallyOf(made), now) };
  });
  await writeEndpoints(
    query,
    changes.map(({ endpoint, after }) => ({ ...endpoint, ...after })),
    now,
  );
  return changes;
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
