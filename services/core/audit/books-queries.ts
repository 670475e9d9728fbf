/** Recomputes what the books say about themselves. Every query answers kind, request_id, merchant_id, expected, found. */

const OPEN = "('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')";

/** Each hold with what its captures and releases add up to. */
const SUMS = `with captured as (
    select hold_request_id, coalesce(sum(amount) filter (where state = 'OK'), 0) as captured,
      coalesce(sum(amount) filter (where state in ${OPEN}), 0) as in_flight,
      coalesce(sum(amount) filter (where reversed), 0) as reversed,
      bool_or(state in ${OPEN} and final_capture) as final_open, bool_or(state in ${OPEN}) as some_open
    from capture group by hold_request_id
  ),
  released as (
    select hold_request_id, sum(amount) as in_flight from release
    where state in ${OPEN} and reason <> 'LATE' group by hold_request_id
  ),
  summed as (
    select h.*, coalesce(c.captured, 0) as sum_captured, coalesce(c.in_flight, 0) + coalesce(r.in_flight, 0) as sum_in_flight,
      coalesce(c.reversed, 0) as sum_reversed, h.status not in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') as closed,
      r.hold_request_id is not null or coalesce(c.final_open, false)
        or (coalesce(c.some_open, false) and not h.allow_multiple_captures) as sum_closing
    from hold h left join captured c on c.hold_request_id = h.request_id
      left join released r on r.hold_request_id = h.request_id
  ),
  reckoned as (
    select *, case when closed then 0 else amount - sum_captured - sum_in_flight end as sum_remaining,
      case when closed then amount - sum_captured - sum_in_flight else 0 end as sum_released
    from summed
  )`;

/** docs/product.md, "Books": the counters follow from the attempts and from whether the hold is closed. */
const HOLD_COUNTERS = `${SUMS}
  select 'HOLD_COUNTERS' as kind, request_id, merchant_id,
    format('captured %s, in flight %s, remaining %s, released %s, reversed %s', sum_captured, sum_in_flight, sum_remaining,
      sum_released, sum_reversed) as expected,
    format('captured %s, in flight %s, remaining %s, released %s, reversed %s', captured, in_flight, remaining, released,
      reversed) as found
  from reckoned
  where (captured, in_flight, remaining, released, reversed)
    is distinct from (sum_captured, sum_in_flight, sum_remaining, sum_released, sum_reversed)`;

const HOLD_STATE = `${SUMS}
  select 'HOLD_STATE' as kind, request_id, merchant_id,
    case when sum_closing <> closing then format('closing %s', sum_closing)
      else format('a status for %s captured', sum_captured) end as expected,
    format('%s, closing %s', status, closing) as found
  from reckoned
  where sum_closing <> closing or (status in ('PARTIALLY_CAPTURED', 'CAPTURED')) <> (sum_captured > 0)`;

const ATTEMPT_WITHOUT_HOLD = `select 'ATTEMPT_WITHOUT_HOLD' as kind, a.request_id, a.merchant_id,
    format('a hold of %s in %s', a.merchant_id, a.currency) as expected,
    coalesce(format('hold of %s in %s', h.merchant_id, h.currency), 'none') as found
  from (
    select request_id, hold_request_id, merchant_id, currency from capture
    union all select request_id, hold_request_id, merchant_id, currency from release
  ) a left join hold h on h.request_id = a.hold_request_id
  where h.request_id is null or (h.merchant_id, h.currency) is distinct from (a.merchant_id, a.currency)`;

/**
 * The results that must be in the log. What gives up a checkout is told by the hold's own result; a void of a late authorization,
 * and an expiry that has to be tried again, are nobody's business. An amount of null is not compared.
 */
const EXPECTED = `select 'HOLD' as kind, request_id as subject, case phase when 'AUTHORIZED' then 'OK' else 'KO' end as status,
    amount, merchant_id, null::uuid as hold_request_id
  from hold where phase in ('AUTHORIZED', 'FAILED')
  union all
  select 'CAPTURE', request_id, state, amount, merchant_id, hold_request_id from capture where state in ('OK', 'KO')
  union all
  select 'REVERSAL', request_id, 'KO', amount, merchant_id, hold_request_id from capture where reversed
  union all
  select case r.reason when 'EXPIRED' then 'EXPIRY' else 'RELEASE' end, r.request_id,
    case when r.state = 'OK' and r.reason = 'RELEASED' then 'OK' else 'KO' end, nullif(r.amount, 0), r.merchant_id, r.hold_request_id
  from release r join hold h on h.request_id = r.hold_request_id
  where (r.state = 'OK' and r.reason <> 'LATE' and h.phase = 'AUTHORIZED') or (r.state = 'KO' and r.reason = 'RELEASED')
  union all
  select 'OCT', request_id, state, amount, merchant_id, null from oct where state in ('OK', 'KO')`;

const OPERATIONS = `with expected as (${EXPECTED}),
  logged as (
    select kind, case kind when 'REVERSAL' then capture_request_id else request_id end as subject, count(*) as count,
      min(status) as status, min(amount) as amount, min(merchant_id) as merchant_id, min(hold_request_id::text)::uuid as hold_request_id
    from operation group by 1, 2
  )
  select case when l.subject is null then 'OPERATION_MISSING' when e.subject is null then 'OPERATION_WITHOUT_ATTEMPT'
      when l.count > 1 then 'OPERATION_TWICE' else 'OPERATION_DIFFERS' end as kind,
    coalesce(e.subject, l.subject) as request_id, coalesce(e.merchant_id, l.merchant_id) as merchant_id,
    coalesce(format('%s %s of %s, hold %s', e.kind, e.status, e.amount, e.hold_request_id), 'no result') as expected,
    coalesce(format('%s %s of %s, hold %s, %s times', l.kind, l.status, l.amount, l.hold_request_id, l.count), 'none') as found
  from expected e full join logged l on l.kind = e.kind and l.subject = e.subject
  where l.subject is null or e.subject is null or l.count > 1 or l.status <> e.status or l.amount <> coalesce(e.amount, l.amount)
    or l.merchant_id <> e.merchant_id or l.hold_request_id is distinct from e.hold_request_id`;

/** The queries over our own books. */
export const BOOKS_QUERIES: readonly string[] = [HOLD_COUNTERS, HOLD_STATE, ATTEMPT_WITHOUT_HOLD, OPERATIONS];

/** How much there is. */
export const COUNTS = `select (select count(*) from hold)::int as holds, (select count(*) from capture)::int as captures,
    (select count(*) from release)::int as releases, (select count(*) from oct)::int as octs,
    (select count(*) from operation)::int as operations,
    ((select count(*) from hold where phase not in ('AUTHORIZED', 'FAILED'))
      + (select count(*) from capture where state in ${OPEN}) + (select count(*) from release where state in ${OPEN})
      + (select count(*) from oct where state in ${OPEN}))::int as "inFlight"`;
