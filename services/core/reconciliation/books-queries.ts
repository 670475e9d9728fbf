/** Queries that recompute our own books. Each returns kind, request_id, merchant_id, expected, found. */
import { SUBMISSION_KINDS, type SubmissionKind } from '../domain/kinds.ts';

/** SQL: requestIds below have no results in the log any more (storage/partitions.ts). */
const RESULTS_FROM = '(select results_from from installation)';

const OPEN = "('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')";

/** SQL: what an operation took back; a reinstatement gives it again. */
const TAKEN_BACK = "case kind when 'REVERSAL' then amount else -amount end";

/** SQL: the kinds of submissions that reserve what remains of a hold. */
const RESERVING = kindsWhere(({ reserves }) => reserves === 'REMAINING');

/** Each hold with the sums of its captures, its reservations, and its releases that left something to capture. */
const SUMS = `with captured as (
    select hold_request_id, sum(amount) as captured from submission where kind = 'CAPTURE' and state = 'OK' group by 1
  ),
  reversed as (
    select hold_request_id, sum(${TAKEN_BACK}) as reversed from operation
      where kind in ('REVERSAL', 'REINSTATEMENT') group by hold_request_id
  ),
  refunds as (
    select hold_request_id, sum(amount) filter (where state = 'OK') as refunded,
      sum(amount) filter (where state in ${OPEN}) as refunding
    from submission where kind = 'REFUND' group by 1
  ),
  given as (
    select hold_request_id, sum(amount_released) as given
    from submission where kind = 'RELEASE' and state = 'OK' group by 1
  ),
  incremented as (
    select hold_request_id, sum(amount) as incremented
    from submission where kind = 'INCREMENT' and state = 'OK' group by 1
  ),
  reserved as (
    select s.hold_request_id, sum(s.amount) filter (where s.kind in (${RESERVING})) as in_flight,
      min(s.kind) filter (where s.kind in ('INCREMENT', 'EXTENSION')) as changing,
      bool_or(s.kind in ('RELEASE', 'EXPIRY')
        or (s.kind = 'CAPTURE' and (s.final_capture or not h.allow_multiple_captures))) as closing
    from submission s join hold h on h.request_id = s.hold_request_id where s.state in ${OPEN} group by 1
  ),
  summed as (
    select h.*, h.amount_asked + coalesce(i.incremented, 0) as sum_amount, r.changing as sum_changing,
      coalesce(c.captured, 0) as sum_captured, coalesce(r.in_flight, 0) as sum_in_flight,
      case when h.request_id < ${RESULTS_FROM} then h.reversed else coalesce(v.reversed, 0) end as sum_reversed,
      h.status not in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') as closed,
      coalesce(r.closing, false) as sum_closing, coalesce(g.given, 0) as sum_given,
      coalesce(f.refunded, 0) as sum_refunded, coalesce(f.refunding, 0) as sum_refunding
    from hold h left join captured c on c.hold_request_id = h.request_id
      left join reserved r on r.hold_request_id = h.request_id
      left join reversed v on v.hold_request_id = h.request_id
      left join refunds f on f.hold_request_id = h.request_id
      left join given g on g.hold_request_id = h.request_id
      left join incremented i on i.hold_request_id = h.request_id
  ),
  reckoned as (
    select *, case when closed then 0 else held - sum_captured - sum_in_flight - sum_given end as sum_remaining,
      case when closed then held - sum_captured - sum_in_flight else sum_given end as sum_released
    from (select *, case phase when 'AUTHORIZED' then sum_amount else 0 end as held from summed) placed
  )`;

/** SQL: the counters of a hold, what they are added up to, and how both are told. */
const COUNTED = 'amount, captured, in_flight, remaining, released, reversed, refunded, refunding';
const SUMMED = COUNTED.replace(/\w+/g, 'sum_$&');
const FORMAT =
  "'amount %s, captured %s, in flight %s, remaining %s, released %s, reversed %s, refunded %s, refunding %s'";

/** docs/product.md, "Books": the counters follow from what was captured, added, released and reversed. */
const HOLD_COUNTERS = `${SUMS}
  select 'HOLD_COUNTERS' as kind, request_id, merchant_id,
    format(${FORMAT}, ${SUMMED}) as expected, format(${FORMAT}, ${COUNTED}) as found
  from reckoned where (${COUNTED}) is distinct from (${SUMMED})`;

const HOLD_STATE = `${SUMS}
  select 'HOLD_STATE' as kind, request_id, merchant_id,
    case when sum_closing <> closing then format('closing %s', sum_closing)
      when sum_changing is distinct from changing then format('changing %s', sum_changing)
      else format('a status for %s captured', sum_captured) end as expected,
    format('%s, closing %s, changing %s', status, closing, changing) as found
  from reckoned
  where sum_closing <> closing or sum_changing is distinct from changing
    or (status in ('PARTIALLY_CAPTURED', 'CAPTURED')) <> (sum_captured > 0)`;

const SUBMISSION_WITHOUT_HOLD = `select 'SUBMISSION_WITHOUT_HOLD' as kind, s.request_id, s.merchant_id,
    format('a hold of %s in %s', s.merchant_id, s.currency) as expected,
    coalesce(format('hold of %s in %s', h.merchant_id, h.currency), 'none') as found
  from submission s left join hold h on h.request_id = s.hold_request_id
  where s.hold_request_id is not null
    and (h.request_id is null or (h.merchant_id, h.currency) is distinct from (s.merchant_id, s.currency))`;

/** What was taken back of a capture is what the log's reversals and reinstatements of it add up to. */
const REVERSALS = `with logged as (
    select capture_request_id, min(merchant_id) as merchant_id, sum(${TAKEN_BACK}) as reversed
    from operation where kind in ('REVERSAL', 'REINSTATEMENT') and capture_request_id is not null group by 1
  )
  select 'REVERSALS_DIFFER' as kind, coalesce(c.request_id, l.capture_request_id) as request_id,
    coalesce(c.merchant_id, l.merchant_id) as merchant_id, format('%s taken back', coalesce(l.reversed, 0)) as expected,
    coalesce(format('%s', c.amount_reversed), 'no capture') as found
  from logged l full join (select * from submission where amount_reversed > 0) c on c.request_id = l.capture_request_id
  where coalesce(l.reversed, 0) <> coalesce(c.amount_reversed, 0)
    and coalesce(c.request_id, l.capture_request_id) >= ${RESULTS_FROM}`;

/** What is refunded of a capture, or reserved, is what its refunds add up to; each has a capture of its hold. */
const REFUNDS = `with refunded as (
    select capture_request_id, hold_request_id, min(merchant_id) as merchant_id,
      coalesce(sum(amount) filter (where state = 'OK'), 0) as refunded,
      coalesce(sum(amount) filter (where state in ${OPEN}), 0) as refunding
    from submission where kind = 'REFUND' group by 1, 2
  )
  select 'REFUNDS_DIFFER' as kind, coalesce(c.request_id, r.capture_request_id) as request_id,
    coalesce(c.merchant_id, r.merchant_id) as merchant_id,
    format('refunded %s, refunding %s', coalesce(r.refunded, 0), coalesce(r.refunding, 0)) as expected,
    coalesce(format('refunded %s, refunding %s', c.amount_refunded, c.amount_refunding), 'no capture') as found
  from refunded r full join (select * from submission where kind = 'CAPTURE') c
    on c.request_id = r.capture_request_id and c.hold_request_id = r.hold_request_id
  where (coalesce(r.refunded, 0), coalesce(r.refunding, 0)) is distinct from (c.amount_refunded, c.amount_refunding)`;

/** SQL: the kinds of submissions whose result, OK or KO, is one in the log with their amount. */
const LOGGED = kindsWhere(({ operation, entry }) => operation !== null && entry !== 'VOID');

function kindsWhere(condition: (facts: (typeof SUBMISSION_KINDS)[SubmissionKind]) => boolean): string {
  const kinds = Object.entries(SUBMISSION_KINDS).filter(([, facts]) => condition(facts));
  return kinds.map(([kind]) => `'${kind}'`).join(', ');
}

/**
 * The results that the log must contain: kind, subject, status, amount (null = any), merchant_id, hold_request_id. What
 * gives up a checkout is the hold's own result; an expiry that is tried again has none.
 */
const EXPECTED = `select 'HOLD' as kind, request_id as subject,
      case phase when 'AUTHORIZED' then 'OK' else 'KO' end as status, amount_asked as amount, merchant_id,
      null::uuid as hold_request_id
    from hold where phase in ('AUTHORIZED', 'FAILED')
    union all
    select kind, request_id, state, amount, merchant_id, hold_request_id from submission
    where kind in (${LOGGED}) and state in ('OK', 'KO')
    union all
    select s.kind, s.request_id, case when s.state = 'OK' and s.kind = 'RELEASE' then 'OK' else 'KO' end,
      coalesce(s.amount_released, nullif(s.amount, 0)), s.merchant_id, s.hold_request_id
    from submission s join hold h on h.request_id = s.hold_request_id
    where s.kind in ('RELEASE', 'EXPIRY')
      and ((s.state = 'OK' and h.phase = 'AUTHORIZED') or (s.state = 'KO' and s.kind = 'RELEASE'))`;

const OPERATIONS = `with expected as (${EXPECTED}),
  logged as (
    select kind, request_id as subject, status, amount, merchant_id, hold_request_id from operation
    where kind not in ('REVERSAL', 'REINSTATEMENT', 'EXPIRING')
  )
  select case when l.subject is null then 'OPERATION_MISSING' when e.subject is null then 'OPERATION_WITHOUT_SUBMISSION'
      else 'OPERATION_DIFFERS' end as kind,
    coalesce(e.subject, l.subject) as request_id, coalesce(e.merchant_id, l.merchant_id) as merchant_id,
    coalesce(format('%s %s of %s, hold %s', e.kind, e.status, e.amount, e.hold_request_id), 'no result') as expected,
    coalesce(format('%s %s of %s, hold %s', l.kind, l.status, l.amount, l.hold_request_id), 'none') as found
  from expected e full join logged l on l.kind = e.kind and l.subject = e.subject
  where coalesce(e.subject, l.subject) >= ${RESULTS_FROM}
    and (l.subject is null or e.subject is null or l.status <> e.status or l.amount <> coalesce(e.amount, l.amount)
      or l.merchant_id <> e.merchant_id or l.hold_request_id is distinct from e.hold_request_id)`;

export const BOOKS_QUERIES: readonly string[] = [
  HOLD_COUNTERS,
  HOLD_STATE,
  SUBMISSION_WITHOUT_HOLD,
  REVERSALS,
  REFUNDS,
  OPERATIONS,
];

export const COUNTS = `select (select count(*) from hold)::int as holds, s.*,
  (select count(*) from operation)::int as operations,
    s.open + (select count(*) from hold where phase not in ('AUTHORIZED', 'FAILED'))::int as "inFlight"
  from (select count(*) filter (where kind = 'CAPTURE')::int as captures,
    count(*) filter (where kind in ('RELEASE', 'EXPIRY', 'LATE_VOID'))::int as releases,
    count(*) filter (where kind = 'REFUND')::int as refunds, count(*) filter (where kind = 'OCT')::int as octs,
    count(*) filter (where state in ${OPEN})::int as open from submission) s`;
