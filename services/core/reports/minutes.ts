import type { Message } from '@bufbuild/protobuf';
import type { Minute as MinuteMessage } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { type Query, sql } from '../storage/database.ts';
import { COUNTERS, type CountedMinute, MOST } from './count-rows.ts';
import { type RolledMinute, readRolled } from './rolled-minutes.ts';

export const MINUTE_MS = 60_000;

/** What happened in one minute, in the contract's form. */
export type Minute = Omit<MinuteMessage, keyof Message | 'start'> & { readonly start: Date };

const NONE = { okCount: 0, koCount: 0, deliveryCount: 0, deliveredCount: 0, verifiedCount: 0, refusedCount: 0 };

/**
 * Counts the last `count` minutes, that of `now` last; empty ones, too. `merchantId` null = all merchants'. What was
 * counted when a minute was over is read, and the rows of the minutes since are counted; which of its deliveries are
 * delivered changes, so those that are not are counted each time.
 */
export async function countMinutes(query: Query, now: Date, count: number, merchantId: string | null) {
  const present = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS;
  const from = new Date(present - (count - 1) * MINUTE_MS);
  const starts = Array.from({ length: count }, (_, index) => new Date(from.getTime() + index * MINUTE_MS));
  const rolled = await readRolled(query, starts, merchantId);
  const complete = rolled.findIndex((minute) => minute?.isCounted !== true);
  const live = new Date(from.getTime() + (complete === -1 ? count - 1 : complete) * MINUTE_MS);
  const [undelivered, waitingCount, ...counted] = await Promise.all([
    live > from ? countUndelivered(query, from, live, merchantId) : [],
    countWaiting(query, merchantId),
    ...COUNTERS.map((each) => each.since(query, live, merchantId)),
  ]);
  const minutes: Minute[] = starts.map((start, index) => ({ ...NONE, ...waitedAt(rolled[index]), start }));
  const indexOf = ({ start }: CountedMinute) => (start.getTime() - from.getTime()) / MINUTE_MS;
  for (const [index, minute] of minutes.entries()) {
    if (minute.start < live) Object.assign(minute, countsOf(rolled[index]));
  }
  for (const each of undelivered) {
    const minute = minutes[indexOf(each)];
    if (minute) Object.assign(minute, { deliveredCount: Math.max(0, minute.deliveryCount - each.undelivered) });
  }
  for (const each of counted.flat()) Object.assign(minutes[indexOf(each)] ?? {}, each);
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

/** How many deliveries wait for an attempt, or are in one. */
async function countWaiting(query: Query, merchantId: string | null): Promise<number> {
  const [row] = await query<{ count: number }>(COUNT_WAITING, [merchantId]);
  return row?.count ?? 0;
}

const COUNT_WAITING = sql('count-waiting-deliveries')`select count(*)::int as count from
    (select from delivery where due_at is not null and ($1::text is null or merchant_id = $1) limit ${MOST}) d`;

function countUndelivered(query: Query, from: Date, until: Date, merchantId: string | null) {
  return query<CountedMinute & { readonly undelivered: number }>(COUNT_UNDELIVERED, [from, until, merchantId]);
}

/** By the two indexes that have just these, which the orders force. */
const COUNT_UNDELIVERED = sql('count-undelivered-by-minute')`
    select date_bin('1 minute', created_at, $1) as start, count(*)::int as undelivered from (
      (select created_at from delivery where due_at is not null and created_at >= $1 and created_at < $2
          and ($3::text is null or merchant_id = $3)
        order by merchant_id, endpoint_kind, due_at, id limit ${MOST})
      union all
      (select created_at from delivery where due_at is null and state <> 'DELIVERED'
          and created_at >= $1 and created_at < $2 and ($3::text is null or merchant_id = $3)
        order by merchant_id, created_at limit ${MOST})) d
    group by 1`;
