import type { Message } from '@bufbuild/protobuf';
import { NIL } from 'uuid';
import type { Minute as MinuteMessage } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { type Query, sql } from '../storage/database.ts';
import { lowestIdAt } from '../storage/id-bounds.ts';

/** How far back rows are counted: it bounds what a question costs. */
const MOST = 200_000;

const MINUTE_MS = 60_000;

/** How far apart the log is looked at. */
const STEP = 5_000;

/** How long before a time ids are looked at: the clocks that draw them are not the one of the row. */
const BEFORE_MS = [0, 1_000, 60_000, 3_600_000, 86_400_000];

/** What happened in one minute, in the contract's form. */
export type Minute = Omit<MinuteMessage, keyof Message | 'start'> & { readonly start: Date };

const NONE = { okCount: 0, koCount: 0, deliveryCount: 0, deliveredCount: 0, verifiedCount: 0, refusedCount: 0 };

/** Counts the last `count` minutes, that of `now` last; empty ones, too. `merchantId` null = all merchants'. */
export async function countMinutes(query: Query, now: Date, count: number, merchantId: string | null) {
  const present = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS;
  const from = new Date(present - (count - 1) * MINUTE_MS);
  const counted = await Promise.all(COUNTERS.map((counter) => counter(query, from, merchantId)));
  const minutes = Array.from({ length: count }, (_, index) => ({
    ...NONE,
    start: new Date(from.getTime() + index * MINUTE_MS),
  }));
  for (const { start, ...counts } of counted.flat()) {
    Object.assign(minutes[(start.getTime() - from.getTime()) / MINUTE_MS] ?? {}, counts);
  }
  return minutes;
}

type Counter = (query: Query, from: Date, merchantId: string | null) => Promise<(Partial<Minute> & { start: Date })[]>;

interface Counted {
  readonly table: string;
  readonly merchant?: string;
  /** Grows with time, and has an index, alone and behind the merchant. */
  readonly key: string;
  /** Whether the key is a UUIDv7, which has the time. */
  readonly isTimed: boolean;
  readonly time: string;
  /** SQL of a condition for each count. */
  readonly counts: Partial<Record<keyof typeof NONE, string>>;
}

const COUNTERS: readonly Counter[] = [
  counter('operations', {
    table: 'operation',
    key: 'sequence',
    isTimed: false,
    time: 'final_state_date',
    counts: { okCount: `status = 'OK'`, koCount: `status = 'KO'` },
  }),
  counter('deliveries', {
    table: 'delivery',
    key: 'id',
    isTimed: true,
    time: 'created_at',
    counts: { deliveryCount: 'true', deliveredCount: `state = 'DELIVERED'` },
  }),
  counter('refused', {
    table: 'verification_failure',
    merchant: 'claimed_merchant_id',
    key: 'id',
    isTimed: true,
    time: 'failed_at',
    counts: { refusedCount: 'true' },
  }),
  (query, from, merchantId) => query(COUNT_VERIFIED, [from, merchantId]),
];

/** The condition of the index over notifications by time is that their bodies are kept, and new ones' are. */
const COUNT_VERIFIED = sql('count-verified-by-minute')`
    select date_bin('1 minute', received_at, $1) as start, count(*)::int as "verifiedCount"
    from notification where body is not null and received_at >= $1 and ($2::text is null or merchant_id = $2)
    group by 1`;

/**
 * Times have no index of their own, which would cost every write: a row shortly before the time, found by looking at a
 * few, bounds what is read, each row once. (Walking to the first older one took as long again.)
 */
function counter(name: string, counted: Counted): Counter {
  const { merchant = 'merchant_id' } = counted;
  const ofAll = sql(`count-${name}-by-minute`)`${countsWhere(counted, 'true')}`;
  const ofOne = sql(`count-${name}-by-minute-of-merchant`)`${countsWhere(counted, `${merchant} = $3`)}`;
  return (query, from, merchantId) => {
    const values = [from, BEFORE_MS.map((ms) => lowestIdAt(from.getTime() - ms))];
    return merchantId === null ? query(ofAll, values) : query(ofOne, [...values, merchantId]);
  };
}

function countsWhere(counted: Counted, condition: string): string {
  const { table, key, isTimed, time, counts } = counted;
  const columns = Object.entries(counts).map(([name, what]) => `count(*) filter (where ${what})::int as "${name}"`);
  const lowest = isTimed ? `'${NIL}'::uuid` : '0';
  return `with newest as (select ${key} from ${table} where ${condition} order by ${key} desc limit 1),
      older as (select probed.${key} from newest cross join ${placesOf(isTimed)} as places
        cross join lateral (select ${key}, ${time} from ${table}
          where ${condition} and ${key} <= ${isTimed ? 'place' : `newest.${key} - place`}
          order by ${key} desc limit 1) as probed
        where probed.${time} < $1 order by 1 desc limit 1)
    select date_bin('1 minute', ${time}, $1) as start, ${columns.join(', ')}
    from (select * from ${table} where ${condition} and ${key} > coalesce((select ${key} from older), ${lowest})
      order by ${key} desc limit ${MOST}) as newer
    where ${time} >= $1 group by 1`;
}

/** SQL: where to look: at the lowest ids of some times, or so many numbers before the newest. */
function placesOf(isTimed: boolean): string {
  if (isTimed) return '(select unnest($2::uuid[]) as place)';
  return `(select n * ${STEP} as place from generate_series(0, ${MOST / STEP}) as n where $2::uuid[] is not null)`;
}
