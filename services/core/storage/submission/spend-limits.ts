import { byIndex } from '../by-index.ts';
import { keyHash } from '../claim/claim-row.ts';
import { NOT_COUNTED } from '../database-errors.ts';

/** A limit of a merchant's contract, in minor units; an absent amount limits nothing. */
export interface Limit {
  readonly operation: LimitedOperation;
  readonly currency: string;
  readonly perOperation?: number;
  /** A day in UTC. */
  readonly perDay?: number;
}

/** The operations that can be limited: those that move money. */
export type LimitedOperation = 'CAPTURE' | 'OCT' | 'REFUND';

/** The part of `spent` that is the sum of a day. */
const SUM = `'00000000-0000-0000-0000-000000000000'::uuid`;

/** SQL: the day of an operation `row` of the input. */
const dayOf = (row: string) => `(${row}."createdAt" at time zone 'UTC')::date`;

/** SQL: a row of `spent` is about the same as `row`, a row of `counted` or `days`. */
const ofSame = (spent: string, row: string) => `${spent}.merchant_id = ${row}."merchantId"
        and ${spent}.operation = ${row}.kind and ${spent}.currency = ${row}.currency and ${spent}.day = ${row}.day`;

/** SQL: the greatest running sum of a day of `counted` that fits beside the amount `used`. */
const fitting = (day: string, used: string) => `coalesce((select max(c.running) from counted c
        where c."merchantId" = ${day}."merchantId" and c.kind = ${day}.kind and c.currency = ${day}.currency
          and c.day = ${day}.day and (c.imported or ${used} + c.running <= c."perDay")), 0)`;

/**
 * SQL of common tables between `eligible`, the rows that could be stored, and `admissible`, those that the merchants'
 * contracts allow; `forbidden` says why the others may not. Rows of a merchant without limits, which may pay out, cost
 * the look at its contract.
 *
 * The upsert in `spending` decides: its SET is evaluated on the newest row of `spent`, after the lock on it was waited
 * for. Statements therefore add up one after the other, in whatever cores. Within one statement the smaller amounts come
 * first, so what does not fit leaves no room that a later one would need. What was done at the processor, and is
 * imported, is counted and never refused.
 *
 * What is counted must be stored. So of two rows with one key only the first is judged, and the other one again; one
 * whose key or requestId is taken already is not counted; and DEMAND_COUNTED fails the statement when another one takes
 * a key meanwhile. The locks on `spent` are taken in one order, and before those of `claim`, so nothing waits in a ring.
 */
export const WITHIN_CONTRACT = `termed as materialized (
    select e."requestId", e."merchantId", e.kind, e.currency, e.amount, ${dayOf('e')} as day,
      coalesce(e.imported, false) as imported, m.allow_oct, l."perOperation", l."perDay",
      row_number() over (partition by e."merchantId", coalesce(e.key, e."requestId"::text) order by e."requestId") as turn,
      exists (select from claim c where ${byIndex('c.request_id', 'e."requestId"')})
        or e.key is not null and exists (select from claim c where ${byIndex('c.merchant_id', 'e."merchantId"')}
          and ${byIndex('c.key', keyHash('e."merchantId"', 'e.key'))}) as claimed
    from eligible e join merchant m on ${byIndex('m.id', 'e."merchantId"')}
      left join lateral (select x."perOperation", x."perDay"
        from jsonb_to_recordset(m.limits) as x(operation text, currency text, "perOperation" bigint, "perDay" bigint)
        where x.operation = e.kind and x.currency = e.currency) l on true
    where e.kind in ('CAPTURE', 'OCT', 'REFUND') and (m.limits is not null or e.kind = 'OCT' and not m.allow_oct)
  ),
  counted as materialized (
    select *, sum(amount) over (partition by "merchantId", kind, currency, day
      order by (not imported), amount, "requestId")::bigint as running
    from termed
    where "perDay" is not null and turn = 1 and not claimed
      and (imported or (kind <> 'OCT' or allow_oct) and amount <= coalesce("perOperation", amount))
  ),
  days as materialized (select distinct "merchantId", kind, currency, day from counted),
  returned as (
    delete from spent where (merchant_id, operation, currency, day, part) in (
      select s.merchant_id, s.operation, s.currency, s.day, s.part from days d join spent s on ${ofSame('s', 'd')}
      where s.part <> ${SUM} for update of s skip locked)
    returning merchant_id, operation, currency, day, amount
  ),
  opened as materialized (
    select d.*, coalesce((select sum(r.amount) from returned r where ${ofSame('r', 'd')}), 0)::bigint as back from days d
  ),
  spending as (
    insert into spent as s (merchant_id, operation, currency, day, part, amount, taken)
    select o."merchantId", o.kind, o.currency, o.day, ${SUM}, o.back + t.taken, t.taken
    from opened o cross join lateral (select ${fitting('o', 'o.back')} as taken) t
    order by 1, 2, 3, 4
    on conflict (merchant_id, operation, currency, day, part) do update set (amount, taken) = (
      select s.amount + o.back + t.taken, t.taken
      from opened o cross join lateral (select ${fitting('o', '(s.amount + o.back)')} as taken) t
      where ${ofSame('excluded', 'o')})
    returning merchant_id, operation, currency, day, taken
  ),
  forbidden as materialized (
    select t."requestId", 'OCT_NOT_ALLOWED' as outcome, null::bigint as "limit", null::date as day
    from termed t where t.kind = 'OCT' and not t.allow_oct and not t.imported
    union all
    select t."requestId", 'LIMIT_EXCEEDED', t."perOperation", null
    from termed t where not t.imported and t.amount > t."perOperation" and (t.kind <> 'OCT' or t.allow_oct)
    union all
    select c."requestId", 'LIMIT_EXCEEDED', c."perDay", case when c.amount <= c."perDay" then c.day end
    from counted c join spending s on ${ofSame('s', 'c')}
    where not c.imported and c.running > s.taken
    union all
    select t."requestId", 'AGAIN', null, null from termed t where t.turn > 1
  ),
  admissible as materialized (
    select e.*, (select c.day from counted c where c."requestId" = e."requestId") as "countedOn"
    from eligible e where e."requestId" not in (select "requestId" from forbidden)
  )`;

/**
 * SQL of a condition that never holds, on a row `i` of the input: the statement fails (22P02, about one row) when what
 * was counted was not stored, or what is stored of a merchant with a limit of the day was not counted.
 */
export const DEMAND_COUNTED = `exists (select from termed t left join counted c on c."requestId" = t."requestId"
        where t."requestId" = i."requestId" and t."perDay" is not null
          and t."requestId" not in (select "requestId" from forbidden)
          and (c."requestId" is not null) <> (t."requestId" in (select request_id from claimed)))
      and ('${NOT_COUNTED}' || i."requestId")::int is null`;

/** SQL: gives the room of what is KO back, on the day on which it was counted; `changed` are the rows that ended. */
export const GIVE_ROOM_BACK = `given_back as (
    insert into spent (merchant_id, operation, currency, day, part, amount)
    select s.merchant_id, s.kind, s.currency, s.counted_on, c.subject_id, -s.amount
    from changed c join submission s on ${byIndex('s.request_id', 'c.subject_id')}
    where not c.ok and s.counted_on is not null
    on conflict do nothing
  )`;

/** SQL: the same of what is corrected; what moved after all takes its room again, whether there is any or not. */
export const CORRECT_ROOM = `given_back as (
    insert into spent (merchant_id, operation, currency, day, part, amount)
    select s.merchant_id, s.kind, s.currency, s.counted_on, c."requestId",
      case when c.state = 'KO' then -s.amount else s.amount end
    from changed c join submission s on ${byIndex('s.request_id', 'c."subjectRequestId"')}
    where c.state <> s.state and s.counted_on is not null
    on conflict do nothing
  )`;
