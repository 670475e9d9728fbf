import { NIL } from 'uuid';
import type { Query, Statement } from '../storage/database.ts';

/** How far back rows are counted: it bounds what a question costs. */
const MOST = 200_000;

/** How many of one kind there were in the minute that starts at `start`, in two sorts. */
export interface MinuteRow {
  readonly start: Date;
  readonly first: number;
  readonly second: number;
}

/** Operations by minute: OK, KO. `from` is the start of a minute; null = all merchants'. */
export const countOperations = counter('operations', {
  table: 'operation',
  key: 'sequence',
  lowest: '0',
  time: 'final_state_date',
  first: `status = 'OK'`,
  second: `status = 'KO'`,
});

/** Deliveries by the minute of their creation: all, and those delivered by now. */
export const countDeliveries = counter('deliveries', {
  table: 'delivery',
  key: 'id',
  lowest: `'${NIL}'::uuid`,
  time: 'created_at',
  first: 'true',
  second: `state = 'DELIVERED'`,
});

/** What the relay could not verify, by minute; `second` is always 0. */
export const countRefused = counter('refused', {
  table: 'verification_failure',
  merchant: 'claimed_merchant_id',
  key: 'id',
  lowest: `'${NIL}'::uuid`,
  time: 'failed_at',
  first: 'true',
  second: 'false',
});

/** What the relay verified and accepted, by minute; `second` is always 0. */
export async function countVerified(query: Query, from: Date, merchantId: string | null): Promise<MinuteRow[]> {
  return query(COUNT_VERIFIED, [from, merchantId]);
}

/** The condition of the index over notifications by time is that their bodies are kept, and new ones' are. */
const COUNT_VERIFIED: Statement = {
  name: 'count-verified-by-minute',
  text: `select date_bin('1 minute', received_at, $1) as start, count(*)::int as first, 0 as second
    from notification where body is not null and received_at >= $1 and ($2::text is null or merchant_id = $2) group by 1`,
};

interface Counted {
  readonly table: string;
  readonly merchant?: string;
  /** Grows with time, and has an index, alone and behind the merchant. */
  readonly key: string;
  readonly lowest: string;
  readonly time: string;
  readonly first: string;
  readonly second: string;
}

type Counter = (query: Query, from: Date, merchantId: string | null) => Promise<MinuteRow[]>;

/** Times have no index of their own, which would cost every write: the newest rows are walked until one is older. */
function counter(name: string, counted: Counted): Counter {
  const ofAll = { name: `count-${name}-by-minute`, text: statementOf(counted, '') };
  const merchant = counted.merchant ?? 'merchant_id';
  const ofOne = { name: `count-${name}-by-minute-of-merchant`, text: statementOf(counted, `${merchant} = $2`) };
  return (query, from, merchantId) => (merchantId === null ? query(ofAll, [from]) : query(ofOne, [from, merchantId]));
}

function statementOf({ table, key, lowest, time, first, second }: Counted, condition: string): string {
  const where = condition === '' ? '' : `where ${condition}`;
  const and = condition === '' ? '' : `${condition} and`;
  return `with older as (
      select ${key} from (select ${key}, ${time} from ${table} ${where} order by ${key} desc limit ${MOST}) as newest
      where ${time} < $1 limit 1)
    select date_bin('1 minute', ${time}, $1) as start, count(*) filter (where ${first})::int as first,
      count(*) filter (where ${second})::int as second
    from (select * from ${table} where ${and} ${key} > coalesce((select ${key} from older), ${lowest})
      order by ${key} desc limit ${MOST}) as newer
    where ${time} >= $1 group by 1`;
}
