import { errorFields, type Log, type LogFields } from '../../../platform/log.ts';
import type { Clock } from '../clock.ts';
import type { Database, Query } from '../storage/database.ts';
import { findFirstDue } from '../storage/delivery/due-deliveries.ts';
import { recordAttempts } from '../storage/delivery/record-attempts.ts';
import {
  type EndpointKey,
  type EndpointState,
  endpointName,
  lockEndpoint,
  writeEndpoint,
} from '../storage/endpoint/endpoint.ts';
import { StatementGather } from '../storage/statement-gather.ts';
import type { Attempt } from './attempt.ts';
import { allowanceOf, judgeEndpoint, PROBE_TIME_MS, type Tally } from './breaker.ts';
import type { Alarm, Queue, TakenAlarm } from './queue.ts';

/** What was done about an alarm. */
export interface HandledAlarm {
  readonly alarm: TakenAlarm;
  /** The attempt that was made; absent = none was. */
  readonly attempt?: MadeAttempt | undefined;
  /** When to look at the delivery again, by this worker's clock; absent = never. */
  readonly nextAt?: Date | undefined;
}

export interface MadeAttempt extends Attempt {
  readonly endpoint: EndpointKey;
  /** Whether the endpoint had failures before; then a success changes its state. */
  readonly troubled: boolean;
}

/** Records attempts, with their deliveries, endpoints and next alarms, in one transaction. Concurrent ones share it. */
export interface AttemptRecorder {
  record(handled: HandledAlarm): Promise<void>;
  /** Endpoints whose alarms are being moved. Taking their alarms meanwhile is slow, because each one is locked. */
  moving(): Iterable<string>;
  /** Resolves when the alarms that the attempts recorded so far require to be moved have been moved. */
  idle(): Promise<void>;
}

export interface AttemptRecorderParts {
  readonly database: Database;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly log: Log;
}

export function openAttemptRecorder(parts: AttemptRecorderParts): AttemptRecorder {
  const moving = new Map<string, Promise<void>>();
  let moved: Promise<void> = Promise.resolve();
  const recordGathered = async (batch: readonly HandledAlarm[]): Promise<undefined[]> => {
    const changes = await parts.database.transaction((query) => recordBatch(parts, query, batch));
    for (const change of changes) {
      // Moving many alarms takes long; attempts at other endpoints do not wait for it.
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
  const gather = new StatementGather<HandledAlarm, undefined>(recordGathered, { maxBatch: 500, lanes: 2 });
  return {
    record: (handled) => gather.submit(handled),
    moving: () => moving.keys(),
    idle: () => moved,
  };
}

/** When the deliveries behind the probe of a paused endpoint are sent; undefined = not before an operator resumes it. */
export function resumesAfterProbe({ pausedUntil }: EndpointState): Date | undefined {
  return pausedUntil === null ? undefined : new Date(pausedUntil.getTime() + PROBE_TIME_MS);
}

/** An endpoint's state before and after a batch. */
interface Change {
  readonly endpoint: EndpointKey;
  readonly before: EndpointState;
  readonly after: EndpointState;
}

async function recordBatch(
  { queue, clock }: AttemptRecorderParts,
  query: Query,
  batch: readonly HandledAlarm[],
): Promise<Change[]> {
  const now = clock();
  const records = batch.flatMap(({ attempt }) => (attempt ? [attempt.record] : []));
  if (records.length > 0) await recordAttempts(query, records);
  const changes = await judgeEndpoints(query, batch, now);
  const states = new Map(changes.map(({ endpoint, after }) => [endpointName(endpoint), after]));
  const next = batch.flatMap((handled) => nextAlarm(handled, states.get(handled.alarm.endpoint), now));
  const taken = batch.map(({ alarm }) => alarm);
  await queue.replace(query, taken, next);
  return changes;
}

/** Writes the endpoints whose state a batch changes. One that succeeds and has not failed before costs nothing here. */
async function judgeEndpoints(query: Query, batch: readonly HandledAlarm[], now: Date): Promise<Change[]> {
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

/** Counts the verdicts of a batch for each endpoint, ordered by name: endpoints are locked in that order. */
function tallied(batch: readonly HandledAlarm[]): EndpointTally[] {
  const tallies = new Map<string, EndpointTally>();
  for (const { alarm, attempt } of batch) {
    if (!attempt?.verdict) continue;
    const { endpoint, verdict } = attempt;
    const before = tallies.get(alarm.endpoint) ?? { tally: { delivered: 0, failed: 0, gone: false }, troubled: false };
    const tally = {
      delivered: before.tally.delivered + (verdict === 'HEALTHY' ? 1 : 0),
      failed: before.tally.failed + (verdict === 'FAILING' ? 1 : 0),
      gone: before.tally.gone || verdict === 'GONE',
    };
    tallies.set(alarm.endpoint, { endpoint, tally, troubled: before.troubled || attempt.troubled });
  }
  return [...tallies].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** No alarm is set for the time of a pause. After a pause without an end, the sweeper sets the alarms. */
function nextAlarm({ alarm, nextAt }: HandledAlarm, state: EndpointState | undefined, now: Date): Alarm[] {
  if (!nextAt) return [];
  const { id, endpoint } = alarm;
  if (!state || allowanceOf(state, now) !== 'NOTHING') return [{ id, endpoint, inMs: msUntil(nextAt, now) }];
  const resumesAt = resumesAfterProbe(state);
  return resumesAt ? [{ id, endpoint, inMs: msUntil(latest(nextAt, resumesAt), now) }] : [];
}

/** Moves an endpoint's alarms after its pause began or ended. If this fails, each alarm is postponed when it goes off. */
async function moveAlarms({ database, queue, clock, log }: AttemptRecorderParts, change: Change): Promise<void> {
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
