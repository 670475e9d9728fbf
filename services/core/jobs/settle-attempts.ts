import { errorFields, type Log, type LogFields } from '../../../proto/log.ts';
import type { Clock } from '../clock.ts';
import type { Attempt } from '../delivery/attempt.ts';
import { allowanceOf, judgeEndpoint, PROBE_TIME_MS, type Tally } from '../delivery/breaker.ts';
import type { EndpointState } from '../domain/endpoint.ts';
import type { Database, Query } from '../storage/database.ts';
import { findFirstDue } from '../storage/due-deliveries.ts';
import { type EndpointKey, endpointName, lockEndpoint, writeEndpoint } from '../storage/endpoint.ts';
import { recordAttempts } from '../storage/record-attempts.ts';
import { StatementGather } from '../storage/statement-gather.ts';
import type { Alarm, Queue, Rung } from './queue.ts';

/** What is to be settled about an alarm that was taken. */
export interface Settlement {
  readonly rung: Rung;
  /** The attempt that was made; absent = none was. */
  readonly attempt?: MadeAttempt | undefined;
  /** When to look at the delivery again, by this worker's clock; absent = never. */
  readonly nextAt?: Date | undefined;
}

export interface MadeAttempt extends Attempt {
  readonly endpoint: EndpointKey;
  /** Whether the endpoint was known to fail before: then a success is news. */
  readonly troubled: boolean;
}

/** Settles alarms: attempts, deliveries, endpoints and next alarms in one transaction; concurrent ones share it. */
export interface Settler {
  settle(settlement: Settlement): Promise<void>;
  /** Endpoints whose alarms are being moved. To take alarms of theirs meanwhile is slow: each one is locked. */
  moving(): Iterable<string>;
  /** Waits until alarms have been moved after what was settled so far. */
  idle(): Promise<void>;
}

export interface SettlerParts {
  readonly database: Database;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after an endpoint's state has changed. */
  readonly onChange: (endpoint: EndpointKey) => void;
}

export function openSettler(parts: SettlerParts): Settler {
  const moving = new Map<string, Promise<void>>();
  let moved: Promise<void> = Promise.resolve();
  const settleGathered = async (batch: readonly Settlement[]): Promise<undefined[]> => {
    const changes = await parts.database.transaction((query) => settleBatch(parts, query, batch));
    for (const change of changes) {
      parts.onChange(change.endpoint);
      // Moving many alarms takes a while, and other endpoints' attempts are not to wait for it.
      const name = endpointName(change.endpoint);
      const move = moved
        .then(() => moveAlarms(parts, change))
        .catch((error) => parts.log.error('alarms_not_moved', errorFields(error)));
      const ended: Promise<void> = move.then(() => {
        if (moving.get(name) === ended) moving.delete(name);
      });
      moving.set(name, ended);
      moved = ended;
    }
    return batch.map(() => undefined);
  };
  const gather = new StatementGather<Settlement, undefined>(settleGathered, { maxBatch: 500, lanes: 2 });
  return {
    settle: (settlement) => gather.submit(settlement),
    moving: () => moving.keys(),
    idle: () => moved,
  };
}

/** When the deliveries behind the probe of a paused endpoint go off; undefined = not before an operator says so. */
export function resumesAfterProbe({ pausedUntil }: EndpointState): Date | undefined {
  return pausedUntil === null ? undefined : new Date(pausedUntil.getTime() + PROBE_TIME_MS);
}

/** An endpoint's state before and after a batch. */
interface Change {
  readonly endpoint: EndpointKey;
  readonly before: EndpointState;
  readonly after: EndpointState;
}

async function settleBatch(
  { queue, clock }: SettlerParts,
  query: Query,
  batch: readonly Settlement[],
): Promise<Change[]> {
  const now = clock();
  const records = batch.flatMap(({ attempt }) => (attempt ? [attempt.record] : []));
  if (records.length > 0) await recordAttempts(query, records);
  const changes = await judgeEndpoints(query, batch, now);
  const states = new Map(changes.map(({ endpoint, after }) => [endpointName(endpoint), after]));
  const next = batch.flatMap((settlement) => nextAlarm(settlement, states.get(settlement.rung.endpoint), now));
  const taken = batch.map(({ rung }) => rung);
  await queue.settle(query, taken, next);
  return changes;
}

/** Writes what a batch says about endpoints. Those that work and have worked before cost nothing here. */
async function judgeEndpoints(query: Query, batch: readonly Settlement[], now: Date): Promise<Change[]> {
  const changes: Change[] = [];
  for (const { endpoint, tally, troubled } of tallied(batch)) {
    if (tally.failed === 0 && !tally.gone && !troubled) continue;
    const before = await lockEndpoint(query, endpoint, now);
    const after = judgeEndpoint(before, tally, now);
    await writeEndpoint(query, endpoint, after, now);
    changes.push({ endpoint, before, after });
  }
  return changes;
}

interface EndpointTally {
  readonly endpoint: EndpointKey;
  readonly tally: Tally;
  readonly troubled: boolean;
}

/** Counts what a batch says about each endpoint, in the order of their names: that is the order in which they are locked. */
function tallied(batch: readonly Settlement[]): EndpointTally[] {
  const tallies = new Map<string, EndpointTally>();
  for (const { rung, attempt } of batch) {
    if (!attempt?.says) continue;
    const { endpoint, says } = attempt;
    const before = tallies.get(rung.endpoint) ?? { tally: { delivered: 0, failed: 0, gone: false }, troubled: false };
    const tally = {
      delivered: before.tally.delivered + (says === 'WELL' ? 1 : 0),
      failed: before.tally.failed + (says === 'ILL' ? 1 : 0),
      gone: before.tally.gone || says === 'GONE',
    };
    tallies.set(rung.endpoint, { endpoint, tally, troubled: before.troubled || attempt.troubled });
  }
  return [...tallies].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** No alarm goes off while its endpoint is paused; when a pause has no end, the sweeper sets the alarms after it. */
function nextAlarm({ rung, nextAt }: Settlement, state: EndpointState | undefined, now: Date): Alarm[] {
  if (!nextAt) return [];
  const { id, endpoint } = rung;
  if (!state || allowanceOf(state, now) !== 'NOTHING') return [{ id, endpoint, inMs: msUntil(nextAt, now) }];
  const resumesAt = resumesAfterProbe(state);
  return resumesAt ? [{ id, endpoint, inMs: msUntil(latest(nextAt, resumesAt), now) }] : [];
}

/** Moves an endpoint's alarms after its pause began or ended. Should this fail, each alarm is put off when it goes off. */
async function moveAlarms({ database, queue, clock, log }: SettlerParts, change: Change): Promise<void> {
  const { endpoint, before, after } = change;
  const { merchantId, kind } = endpoint;
  const line: LogFields = { merchantId, endpointKind: kind, count: after.failureCount };
  const { pausedUntil } = after;
  const now = clock();
  if (pausedUntil && pausedUntil.getTime() !== before.pausedUntil?.getTime()) {
    log.warn('endpoint_paused', { pause: 'BREAKER', ...line, pausedUntil: pausedUntil.toISOString() });
    await queue.moveAll(endpointName(endpoint), msUntil(pausedUntil, now) + PROBE_TIME_MS);
    const probe = await findFirstDue(database.query, endpoint);
    if (probe) await queue.move(probe.id, msUntil(latest(probe.dueAt, pausedUntil), now));
  } else if (after.pause === 'GONE' && before.pause !== 'GONE') {
    log.warn('endpoint_paused', { pause: 'GONE', ...line });
  } else if (after.pause === null && before.pause !== null) {
    log.info('endpoint_resumed', { ...line });
    await queue.moveAll(endpointName(endpoint), 0);
  }
}

function msUntil(at: Date, now: Date): number {
  return at.getTime() - now.getTime();
}

function latest(one: Date, other: Date): Date {
  return new Date(Math.max(one.getTime(), other.getTime()));
}
