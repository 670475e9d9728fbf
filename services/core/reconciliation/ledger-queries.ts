/** Queries that compare our books with a copy of the processor's, `processor_entry`. Each returns kind, request_id, merchant_id, expected, found. */
import { unionOfSubmissions } from '../storage/operation/submissions.ts';

/** The copy: a table of the session, so that a million entries are compared by joins. */
export const CREATE_COPY = `create temporary table processor_entry (
    request_id uuid, processor text, kind text not null, answer text not null, authorization_request_id uuid, merchant_id text not null,
    amount bigint not null, currency text not null, captured bigint not null, voided bigint not null, reversed bigint not null, primary key (request_id, processor))`;

/** Copies one page, as JSON. An entry that is read again replaces the earlier copy. */
export const INSERT_ENTRIES = `insert into processor_entry
  select * from json_to_recordset($1::json) as e(request_id uuid, processor text, kind text, answer text, authorization_request_id uuid,
    merchant_id text, amount bigint, currency text, captured bigint, voided bigint, reversed bigint)
  on conflict (request_id, processor) do update set answer = excluded.answer, amount = excluded.amount, captured = excluded.captured,
    voided = excluded.voided, reversed = excluded.reversed`;

/** SQL: the identifier at the processor of a row. */
const identifier = (row: string) => `coalesce(${row}.processor_request_id, ${row}.request_id)`;

/** Every submission, with the kind of its entry in the processor's books, and its identifiers there. */
const SUBMITTED = unionOfSubmissions(
  (
    table,
    { state, entry, isEntryCompared, entryAmount, holdRequestId },
  ) => `select s.request_id, ${identifier('s')} as identifier, s.processor, s.merchant_id, ${entryAmount} as amount, s.currency, ${state} as state,
      '${entry}' as kind, ${isEntryCompared} as compared, ${identifier('a')} as authorization_identifier
      from ${table} s left join hold a on a.request_id = ${holdRequestId}`,
);

/** What the entry of a void leaves empty is as it must be. */
const orEmpty = (column: string) =>
  `case when e.kind = 'VOID' and e.${column} = '' then f.${column} else e.${column} end`;

/** Done in both books or in neither. An authorization that was given back in full counts as not done (a late authorization). */
const RESULTS = `with final as (select *, state = 'OK' as done from (${SUBMITTED}) s where compared and state in ('OK', 'KO')),
  compared as (
    select f.*, e.request_id as entry, coalesce(e.answer = 'APPROVED' and not (e.kind = 'AUTHORIZATION' and not f.done
        and e.captured = 0 and (e.voided = e.amount or exists (select from release r where r.hold_request_id = f.request_id
          and r.reason = 'LATE' and r.state not in ('OK', 'KO')))), false) as done_there,
      coalesce(e.kind || ' ' || e.answer || ' at ' || e.processor, 'nothing') as there, e.amount as entry_amount, ${orEmpty('currency')} as entry_currency,
      ${orEmpty('merchant_id')} as entry_merchant, e.kind as entry_kind, f.processor in ('', 'default', e.processor) as is_there, e.authorization_request_id
    from final f left join processor_entry e on e.request_id = f.identifier
  )
  select case when done and not done_there then 'NOT_DONE_AT_PROCESSOR' when not done and done_there then 'DONE_AT_PROCESSOR'
      else 'AMOUNT_AT_PROCESSOR' end as kind, request_id, merchant_id,
    format('%s %s of %s %s for %s', kind, case when done then 'done' else 'not done' end, amount, currency, merchant_id) as expected,
    format('%s of %s %s for %s', there, entry_amount, entry_currency, entry_merchant) as found
  from compared
  where done <> done_there or (done and (not is_there or (amount, currency, merchant_id, kind)
    is distinct from (entry_amount, entry_currency, entry_merchant, entry_kind) or authorization_request_id is distinct from authorization_identifier))`;

/** Entries of the processor under identifiers that we do not have, or that we booked as not given back. */
const UNKNOWN_HERE = `select case when s.request_id is null then 'UNKNOWN_HERE' else 'DONE_AT_PROCESSOR' end as kind, e.request_id,
    e.merchant_id, case when s.request_id is null then 'nothing under this identifier' else 'a void that was not done' end as expected,
    format('%s approved at %s, %s %s', e.kind, e.processor, e.amount, e.currency) as found
  from processor_entry e left join (${SUBMITTED}) s on s.identifier = e.request_id and s.kind = e.kind
  where e.answer = 'APPROVED' and e.amount > 0 and (s.request_id is null or (not s.compared and s.state = 'KO'))`;

/**
 * The sums of authorizations. An operation in flight may already be done at the processor. A closed hold has given back what it released,
 * unless the processor answered that nothing was left (then the release has no reference).
 */
const SUMS = `select 'SUMS_AT_PROCESSOR' as kind, h.request_id, h.merchant_id,
    format('charged %s, given back %s, reversed %s, in flight %s', h.captured, h.released, h.reversed, h.in_flight) as expected,
    format('charged %s, given back %s, reversed %s at %s', e.captured, e.voided, e.reversed, e.processor) as found
  from hold h join processor_entry e on e.request_id = ${identifier('h')} and e.kind = 'AUTHORIZATION' and e.answer = 'APPROVED'
  where h.phase = 'AUTHORIZED' and (e.captured < h.captured or e.captured > h.captured + h.in_flight or e.reversed <> h.reversed
    or (h.in_flight = 0 and not h.closing and e.voided <> h.released and not (e.voided < h.released and exists (
      select from release r where r.hold_request_id = h.request_id and r.state = 'OK' and r.processor_reference = ''))))`;

/** The queries that compare both books. */
export const LEDGER_QUERIES: readonly string[] = [RESULTS, UNKNOWN_HERE, SUMS];
