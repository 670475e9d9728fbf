import { NIL } from 'uuid';
import { type Query, type Statement, sql } from '../storage/database.ts';
import { lowestIdAt } from '../storage/id-bounds.ts';

/** Rows further back than this are not counted, which bounds the cost. */
export const MOST = 200_000;

/** Distance between the rows of the log that are looked at. */
const STEP = 5_000;

/** Distances from a time at which ids are looked up: the clocks that draw them differ from the row's. */
const AROUND_MS = [0, 1_000, 60_000, 3_600_000, 86_400_000];

/**
 * Rows written at the same time can be in either order: reading begins so much before the window, and ends so much
 * after.
 */
const SLACK = `interval '10 s'`;

/** Counts of rows by their minute. */
export interface Counts {
  readonly okCount: number;
  readonly koCount: number;
  readonly deliveryCount: number;
  readonly deliveredCount: number;
  readonly verifiedCount: number;
  readonly refusedCount: number;
}

export type CountedMinute = Partial<Counts> & { readonly start: Date };
/** Of one merchant, or with '' of all. */
export type MerchantMinute = CountedMinute & { readonly merchantId: string };

export interface Counter {
  /** Since a time; `merchantId` null = all merchants'. */
  since(query: Query, from: Date, merchantId: string | null): Promise<CountedMinute[]>;
  /** Of each merchant that has some, and of all together, what does not change any more. */
  between(query: Query, from: Date, until: Date): Promise<MerchantMinute[]>;
}

interface Counted {
  readonly table: string;
  readonly merchant?: string;
  /** True when the index has the merchant before the key. */
  readonly isByMerchant: boolean;
  /** Grows with time, and has an index. */
  readonly key: string;
  /** True when the key is a UUIDv7, which contains the time. */
  readonly isTimed: boolean;
  readonly time: string;
  /** SQL of a condition for each count. */
  readonly counts: Partial<Record<keyof Counts, string>>;
  /** Counts of rows that change later. */
  readonly changing?: Partial<Record<keyof Counts, string>>;
}

export const COUNTERS: readonly Counter[] = [
  counter('operations', {
    table: 'operation',
    isByMerchant: true,
    key: 'sequence',
    isTimed: false,
    time: 'final_state_date',
    counts: { okCount: `status = 'OK'`, koCount: `status = 'KO'` },
  }),
  counter('deliveries', {
    table: 'delivery',
    isByMerchant: true,
    key: 'id',
    isTimed: true,
    time: 'created_at',
    counts: { deliveryCount: 'true' },
    changing: { deliveredCount: `state = 'DELIVERED'` },
  }),
  counter('refused', {
    table: 'verification_failure',
    merchant: 'claimed_merchant_id',
    isByMerchant: false,
    key: 'id',
    isTimed: true,
    time: 'failed_at',
    counts: { refusedCount: 'true' },
  }),
  {
    since: (query, from, merchantId) => query(COUNT_VERIFIED, [from, merchantId]),
    between: (query, from, until) => query(ROLL_VERIFIED, [from, until]),
  },
];

/** The condition of the index over notifications by time is that their bodies are kept, and new ones' are. */
const COUNT_VERIFIED = sql('count-verified-by-minute')`
    select date_bin('1 minute', received_at, $1) as start, count(*)::int as "verifiedCount"
    from notification where body is not null and received_at >= $1 and ($2::text is null or merchant_id = $2)
    group by 1`;

const ROLL_VERIFIED = sql('roll-verified-by-minute')`
    select date_bin('1 minute', received_at, $1) as start, coalesce(merchant_id, '') as "merchantId",
      count(*)::int as "verifiedCount"
    from notification where body is not null and received_at >= $1 and received_at < $2
    group by grouping sets ((date_bin('1 minute', received_at, $1)), (date_bin('1 minute', received_at, $1), merchant_id))`;

/**
 * Times have no index, which would cost every write. A few look-ups find a row shortly before the time, from which on
 * rows are read, each once. Walking to the first older row took twice as long.
 */
function counter(name: string, counted: Counted): Counter {
  const { merchant = 'merchant_id' } = counted;
  const ofAll = sql(`count-${name}-by-minute`)`${countsWhere(counted, 'true')}`;
  const ofOne = sql(`count-${name}-by-minute-of-merchant`)`${countsWhere(counted, `${merchant} = $3`)}`;
  const rolled: Statement = sql(`roll-${name}-by-minute`)`${rolledCounts(counted, merchant)}`;
  const before = (time: Date) => AROUND_MS.map((ms) => lowestIdAt(time.getTime() - ms));
  return {
    since: (query, from, merchantId) => {
      const values = [from, before(from)];
      return merchantId === null ? query(ofAll, values) : query(ofOne, [...values, merchantId]);
    },
    between: (query, from, until) => {
      const after = AROUND_MS.map((ms) => lowestIdAt(until.getTime() + ms));
      return query(rolled, [from, before(from), until, after]);
    },
  };
}

function countsWhere({ counts, changing, ...counted }: Counted, condition: string): string {
  const { table, key, isTimed, time, isByMerchant } = counted;
  const probed = isByMerchant ? condition : 'true';
  return `with newest as (${newestOf(counted, probed)}), older as (${olderOf(counted, probed)})
    select date_bin('1 minute', ${time}, $1) as start, ${columnsOf({ ...counts, ...changing })}
    from (select * from ${table} where ${condition} and ${key} > coalesce((select ${key} from older), ${lowest(isTimed)})
      order by ${key} desc limit ${MOST}) as newer
    where ${time} >= $1 group by 1`;
}

function rolledCounts({ counts, ...counted }: Counted, merchant: string): string {
  const { table, key, isTimed, time } = counted;
  const minute = `date_bin('1 minute', ${time}, $1)`;
  return `with newest as (${newestOf(counted, 'true')}), older as (${olderOf(counted, 'true')}),
      later as (select probed.${key} from newest cross join ${placesOf(isTimed, '$4')} as places
        cross join lateral (select ${key}, ${time} from ${table}
          where ${key} >= ${isTimed ? 'place' : `newest.${key} - place`} order by ${key} limit 1) as probed
        where probed.${time} >= $3::timestamptz + ${SLACK} order by 1 limit 1)
    select ${minute} as start, coalesce(${merchant}, '') as "merchantId", ${columnsOf(counts)}
    from (select * from ${table} where ${key} > coalesce((select ${key} from older), ${lowest(isTimed)})
      and ${key} <= coalesce((select ${key} from later), (select ${key} from newest))) as found
    where ${time} >= $1 and ${time} < $3 group by grouping sets ((${minute}), (${minute}, ${merchant}))`;
}

type Place = Pick<Counted, 'table' | 'key' | 'isTimed' | 'time'>;

function newestOf({ table, key }: Place, condition: string): string {
  return `select ${key} from ${table} where ${condition} order by ${key} desc limit 1`;
}

function olderOf({ table, key, isTimed, time }: Place, condition: string): string {
  return `select probed.${key} from newest cross join ${placesOf(isTimed, '$2')} as places
        cross join lateral (select ${key}, ${time} from ${table}
          where ${condition} and ${key} <= ${isTimed ? 'place' : `newest.${key} - place`}
          order by ${key} desc limit 1) as probed
        where probed.${time} < $1::timestamptz - ${SLACK} order by 1 desc limit 1`;
}

/** SQL: where to look: at the lowest ids of some times, or so many numbers before the newest, near it more closely. */
function placesOf(isTimed: boolean, ids: string): string {
  if (isTimed) return `(select unnest(${ids}::uuid[]) as place)`;
  return `(select n * ${STEP} as place from generate_series(0, ${MOST / STEP}) as n where ${ids}::uuid[] is not null
      union all select ${STEP} >> n from generate_series(1, 7) as n)`;
}

function lowest(isTimed: boolean): string {
  return isTimed ? `'${NIL}'::uuid` : '0';
}

function columnsOf(counts: Counted['counts']): string {
  return Object.entries(counts)
    .map(([name, what]) => `count(*) filter (where ${what})::int as "${name}"`)
    .join(', ');
}
