/** Holds our books against a copy of the processor's, `processor_entry`. Every query answers kind, request_id, merchant_id, expected, found. */

/** The copy: a table of the session, so that a million entries are compared by joins. */
export const CREATE_COPY = `create temporary table processor_entry (
    request_id uuid primary key, kind text not null, answer text not null, authorization_request_id uuid, merchant_id text not null,
    amount bigint not null, currency text not null, captured bigint not null, voided bigint not null, reversed bigint not null)`;

/** Copies one page, as JSON. An entry that is read again replaces what was read before. */
export const INSERT_ENTRIES = `insert into processor_entry
  select * from json_to_recordset($1::json) as e(request_id uuid, kind text, answer text, authorization_request_id uuid,
    merchant_id text, amount bigint, currency text, captured bigint, voided bigint, reversed bigint)
  on conflict (request_id) do update set answer = excluded.answer, amount = excluded.amount, captured = excluded.captured,
    voided = excluded.voided, reversed = excluded.reversed`;

const FINAL_HOLDS = `select request_id, merchant_id, amount, currency, phase = 'AUTHORIZED' as done, 'AUTHORIZATION' as kind,
    null::uuid as hold_request_id from hold where phase in ('AUTHORIZED', 'FAILED')`;
const FINAL_CAPTURES = `select request_id, merchant_id, amount, currency, state = 'OK', 'CAPTURE', hold_request_id from capture
  where state in ('OK', 'KO')`;
const FINAL_OCTS = `select request_id, merchant_id, amount, currency, state = 'OK', 'CREDIT', null from oct where state in ('OK', 'KO')`;

/** Done here and there, or neither. What was given back in full again counts as not done (a late authorization). */
const RESULTS = `with final as (${FINAL_HOLDS} union all ${FINAL_CAPTURES} union all ${FINAL_OCTS}),
  compared as (
    select f.*, e.request_id as entry, coalesce(e.answer = 'APPROVED' and not (e.kind = 'AUTHORIZATION' and not f.done
        and e.captured = 0 and (e.voided = e.amount or exists (select from release r where r.hold_request_id = f.request_id
          and r.reason = 'LATE' and r.state not in ('OK', 'KO')))), false) as done_there,
      coalesce(e.kind || ' ' || e.answer, 'nothing') as there, e.amount as entry_amount, e.currency as entry_currency,
      e.merchant_id as entry_merchant, e.kind as entry_kind, e.authorization_request_id
    from final f left join processor_entry e on e.request_id = f.request_id
  )
  select case when done and not done_there then 'NOT_DONE_AT_PROCESSOR' when not done and done_there then 'DONE_AT_PROCESSOR'
      else 'AMOUNT_AT_PROCESSOR' end as kind, request_id, merchant_id,
    format('%s %s of %s %s for %s', kind, case when done then 'done' else 'not done' end, amount, currency, merchant_id) as expected,
    format('%s of %s %s for %s', there, entry_amount, entry_currency, entry_merchant) as found
  from compared
  where done <> done_there or (done and ((amount, currency, merchant_id, kind)
    is distinct from (entry_amount, entry_currency, entry_merchant, entry_kind) or authorization_request_id is distinct from hold_request_id))`;

/** What the processor did under identifiers that we do not have, or that we booked as not given back. */
const UNKNOWN_HERE = `select case when r.request_id is null then 'UNKNOWN_HERE' else 'DONE_AT_PROCESSOR' end as kind, e.request_id,
    e.merchant_id, coalesce('a void that was not done', 'nothing under this identifier') as expected,
    format('%s approved, %s %s', e.kind, e.amount, e.currency) as found
  from processor_entry e
    left join release r on e.kind = 'VOID' and r.request_id = e.request_id
  where e.answer = 'APPROVED' and e.amount > 0 and ((e.kind = 'VOID' and (r.request_id is null or r.state = 'KO'))
    or (e.kind = 'AUTHORIZATION' and not exists (select from hold where request_id = e.request_id))
    or (e.kind = 'CAPTURE' and not exists (select from capture where request_id = e.request_id))
    or (e.kind = 'CREDIT' and not exists (select from oct where request_id = e.request_id)))`;

/**
 * The sums of authorizations. What is in flight may be done there already. A closed hold has given back what it released, unless
 * the processor said that there was nothing left to give back (a release without its reference).
 */
const SUMS = `select 'SUMS_AT_PROCESSOR' as kind, h.request_id, h.merchant_id,
    format('charged %s, given back %s, reversed %s, in flight %s', h.captured, h.released, h.reversed, h.in_flight) as expected,
    format('charged %s, given back %s, reversed %s', e.captured, e.voided, e.reversed) as found
  from hold h join processor_entry e on e.request_id = h.request_id and e.kind = 'AUTHORIZATION' and e.answer = 'APPROVED'
  where h.phase = 'AUTHORIZED' and (e.captured < h.captured or e.captured > h.captured + h.in_flight or e.reversed <> h.reversed
    or (h.in_flight = 0 and not h.closing and e.voided <> h.released and not (e.voided < h.released and exists (
      select from release r where r.hold_request_id = h.request_id and r.state = 'OK' and r.processor_reference = ''))))`;

/** The queries that compare. */
export const LEDGER_QUERIES: readonly string[] = [RESULTS, UNKNOWN_HERE, SUMS];
