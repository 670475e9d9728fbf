import type { Message } from '@bufbuild/protobuf';
import type { Minute as MinuteMessage } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { type Query, sql } from '../storage/database.ts';
import { COUNTERS, type CountedMinute, MOST } from './count-rows.ts';
import { type RolledMinute, readRolled } from './rolled-minutes.ts';

export const MINUTE_MS = 60_000;

/** The events of one minute, in the contract's form. */
export type Minute = Omit<MinuteMessage, keyof Message | 'start'> & { readonly start: Date };

const NONE = { okCount: 0, koCount: 0, deliveryCount: 0, deliveredCount: 0, verifiedCount: 0, refusedCount: 0 };

/**
 * Counts the last `count` minutes, that of `now` last, with the empty ones. `merchantId` null = all merchants. Minutes
 * that are over are read as counted then; the rows of later ones are counted now. Undelivered deliveries are counted
 * each time, because they change.
 */
export async function countMinutes(query: Query, now: Date, count: number, merchantId: string | null) {
  const present = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS;
  const from = new Date(present - (count - 1) * MINUTE_MS);
  const starts = Array.from({ length: count }, (_, index) => new Date(from.getTime() + index * MINUTE_MS));
  const rolled = await readRolled(query, starts, merchantId);
  const complete = rolled.findIndex((minute) => minute?.isCounted !== true);
  const live = new Date(from.getTime() + (complete === -1 ? count - 1 : complete) * MINUTE_MS);
  const [waiting, dead, ...counted] = await Promise.all([
    countWaiting(query, [...starts.filter((start) => start < live), live], merchantId),
    live > from ? countDead(query, from, live, merchantId) : [],
    ...COUNTERS.map((each) => each.since(query, live, merchantId)),
  ]);
  const minutes: Minute[] = starts.map((start, index) => ({ ...NONE, ...waitedAt(rolled[index]), start }));
  const indexOf = ({ start }: CountedMinute) => (start.getTime() - from.getTime()) / MINUTE_MS;
  for (const [index, minute] of minutes.entries()) {
    if (minute.start < live) Object.assign(minute, countsOf(rolled[index]));
  }
  for (const { start, count: undelivered } of [...waiting, ...dead]) {
    const minute = start === null || start >= live ? undefined : minutes[indexOf({ start })];
    if (minute) Object.assign(minute, { deliveredCount: Math.max(0, minute.deliveredCount - undelivered) });
  }
  for (const each of counted.flat()) Object.assign(minutes[indexOf(each)] ?? {}, each);
  const waitingCount = waiting.reduce((sum, { count: some }) => sum + some, 0);
  Object.assign(minutes.at(-1) ?? {}, { waitingCount });
  return minutes;
}

function countsOf(rolled: RolledMinute | undefined) {
  const { okCount = 0, koCount = 0, deliveryCount = 0, verifiedCount = 0, refusedCount = 0 } = rolled ?? {};
  return { okCount, koCount, deliveryCount, deliveredCount: deliveryCount, verifiedCount, refusedCount };
}

function waitedAt(rolled: RolledMinute | undefined) {
  return rolled?.waitingCount == null ? {} : { waitingCount: rolled.waitingCount };
}

/** Deliveries of a minute that are not delivered. */
interface Undelivered {
  /** Null: of before. */
  readonly start: Date | null;
  readonly count: number;
}

/** Counts deliveries that wait for an attempt, or are in one, by the `starts` of the minutes that created them. */
function countWaiting(query: Query, starts: readonly Date[], merchantId: string | null) {
  return query<Undelivered>(COUNT_WAITING, [starts, merchantId]);
}

/** Reads each once: of 200 000, a second pass and an order for an index took 2.6 times as long (measured in turn). */
const COUNT_WAITING = sql('count-waiting-deliveries')`select ($1::timestamptz[])[bucket] as start, count(*)::int
    from (select width_bucket(created_at, $1::timestamptz[]) as bucket from delivery
      where due_at is not null and ($2::text is null or merchant_id = $2) limit ${MOST}) d
    group by bucket`;

function countDead(query: Query, from: Date, until: Date, merchantId: string | null) {
  return query<Undelivered & { readonly start: Date }>(COUNT_DEAD, [from, until, merchantId]);
}

/** By the index that has just these, which the order forces. */
const COUNT_DEAD = sql('count-dead-by-minute')`
    select date_bin('1 minute', created_at, $1) as start, count(*)::int from
      (select created_at from delivery where due_at is null and state <> 'DELIVERED'
          and created_at >= $1 and created_at < $2 and ($3::text is null or merchant_id = $3)
        order by merchant_id, created_at limit ${MOST}) d
    group by 1`;
