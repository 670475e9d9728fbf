import type { Message } from '@bufbuild/protobuf';
import { NIL } from 'uuid';
import type { Minute as MinuteMessage } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { type Query, sql } from '../storage/database.ts';

/** How far back rows are counted: it bounds what a question costs. */
const MOST = 200_000;

const MINUTE_MS = 60_000;

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
  readonly lowest: string;
  readonly time: string;
  /** SQL of a condition for each count. */
  readonly counts: Partial<Record<keyof typeof NONE, string>>;
}

const COUNTERS: readonly Counter[] = [
  counter('operations', {
    table: 'operation',
    key: 'sequence',
    lowest: '0',
    time: 'final_state_date',
    counts: { okCount: `status = 'OK'`, koCount: `status = 'KO'` },
  }),
  counter('deliveries', {
    table: 'delivery',
    key: 'id',
    lowest: `'${NIL}'::uuid`,
    time: 'created_at',
    counts: { deliveryCount: 'true', deliveredCount: `state = 'DELIVERED'` },
  }),
  counter('refused', {
    table: 'verification_failure',
    merchant: 'claimed_merchant_id',
    key: 'id',
    lowest: `'${NIL}'::uuid`,
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

/** Times have no index of their own, which would cost every write: the newest rows are walked until one is older. */
function counter(name: string, counted: Counted): Counter {
  const ofAll = sql(`count-${name}-by-minute`)`${countsWhere(counted, 'true')}`;
  const { merchant = 'merchant_id' } = counted;
  const ofOne = sql(`count-${name}-by-minute-of-merchant`)`${countsWhere(counted, `${merchant} = $2`)}`;
  return (query, from, merchantId) => (merchantId === null ? query(ofAll, [from]) : query(ofOne, [from, merchantId]));
}

function countsWhere({ table, key, lowest, time, counts }: Counted, condition: string): string {
  const columns = Object.entries(counts).map(([name, what]) => `count(*) filter (where ${what})::int as "${name}"`);
  return `with older as (
      select ${key} from (select ${key}, ${time} from ${table} where ${condition} order by ${key} desc
        limit ${MOST}) as newest
      where ${time} < $1 limit 1)
    select date_bin('1 minute', ${time}, $1) as start, ${columns.join(', ')}
    from (select * from ${table} where ${condition} and ${key} > coalesce((select ${key} from older), ${lowest})
      order by ${key} desc limit ${MOST}) as newer
    where ${time} >= $1 group by 1`;
}
