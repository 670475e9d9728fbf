/**
 * Queries that compare our books with a copy of the processor's, `processor_entry`. Each returns kind, request_id,
 * merchant_id, expected, found.
 */
import { ofBothTables } from '../storage/submission/sent-tables.ts';

/** Columns of the copy, as the pages have them. */
const COLUMNS = {
  request_id: 'uuid',
  processor: 'text',
  kind: 'text',
  answer: 'text',
  authorization_request_id: 'uuid',
  capture_request_id: 'uuid',
  merchant_id: 'text',
  account: 'text',
  terminal_id: 'text',
  user_id: 'text',
  token_id: 'text',
  operation_request_id: 'text',
  merchant_reference: 'text',
  memo: 'text',
  amount: 'bigint',
  currency: 'text',
  captured: 'bigint',
  voided: 'bigint',
  reversed: 'bigint',
  incremented: 'bigint',
  refunded: 'bigint',
  acted_at: 'timestamptz',
  ended_at: 'timestamptz',
} as const;

const DEFINED = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`);

/** The copy: a table of the session, for joins of a million entries. `contradicts` = it was something else before. */
export const CREATE_COPY = `create temporary table processor_entry (${DEFINED.join(', ')},
    contradicts boolean not null default false, primary key (request_id, processor));
  create temporary table left_out (name text primary key, why text not null);
  create temporary table invalid_entry (request_id text, processor text, what text not null,
    primary key (request_id, processor))`;

/** Made after the copy is filled: what is summed of each authorization is found by it. */
export const INDEX_COPY = 'create index on processor_entry (authorization_request_id, processor)';

/** Takes what was copied of the books of a processor ($1) away: they are not compared, and why ($2). */
export const LEAVE_OUT = `with gone as (delete from processor_entry where processor = $1)
  insert into left_out (name, why) values ($1, $2) on conflict do nothing`;

/** How many operations were ever sent to a processor ($1). */
export const COUNT_SENT = `select ((select count(*) from hold where processor = $1)
  + (select count(*) from submission where processor = $1))::int as sent`;

export const LEFT_OUT = 'select name as processor, why from left_out order by name';

/** Copies one page, as JSON. An entry that is read again replaces the earlier copy. */
export const INSERT_ENTRIES = `insert into processor_entry (${Object.keys(COLUMNS).join(', ')})
  select * from json_to_recordset($1::json) as e(${DEFINED.join(', ')})
  on conflict (request_id, processor) do update set answer = excluded.answer, amount = excluded.amount,
    captured = excluded.captured, voided = excluded.voided, reversed = excluded.reversed,
    incremented = excluded.incremented, refunded = excluded.refunded, ended_at = excluded.ended_at,
    contradicts = processor_entry.contradicts
      or (processor_entry.kind, processor_entry.merchant_id, processor_entry.currency)
        is distinct from (excluded.kind, excluded.merchant_id, excluded.currency)`;

/** Remembers an entry that cannot be stored: its identifier as far as it is one, its processor, and why. */
export const INSERT_INVALID = `insert into invalid_entry (request_id, processor, what) values ($1, $2, $3)
  on conflict do nothing`;

/** Entries that break the contract: nothing is compared with them. An identifier that is none is empty. */
const INVALID_ENTRIES = `select 'INVALID_ENTRY' as kind, request_id, '' as merchant_id,
    'an entry by the contract' as expected, format('%s, at %s', what, processor) as found
  from invalid_entry`;

/** SQL: the entry of an identifier at a processor is one of those. */
const isInvalid = (id: string, processor: string) =>
  `exists (select from invalid_entry i where i.request_id = ${id}::text and i.processor = ${processor})`;

/** Those entries, one line each. */
export const READ_INVALID = 'select request_id, processor, what from invalid_entry order by processor, request_id';

/** SQL: the identifier at the processor of a row. */
const identifier = (row: string) => `coalesce(${row}.processor_request_id, ${row}.request_id)`;

/** SQL: a row has this identifier at this processor, by its indexes: for each of many, a scan would be too much. */
const isSentAs = (row: string, id: string, processor: string) =>
  `(${row}.processor = ${processor} and (${row}.processor_request_id = ${id} or (${row}.request_id = ${id} and ` +
  `${row}.processor_request_id is null)))`;

/**
 * Everything that was sent, with the kind of its entry in the processor's books, and its identifiers there. Of a void
 * only the processor knows what there was to give back, so it is compared where it has said so.
 */
const SENT = ofBothTables((table, { state, entry, holdRequestId }) => {
  const isVoid = `${entry} = 'VOID'`;
  const [amount, released, reported] =
    table === 'hold' ? ['s.amount_asked', 'null::bigint', 'false'] : ['s.amount', 's.amount_released', 's.reported'];
  return `select s.request_id, ${identifier('s')} as identifier, s.processor, s.merchant_id, s.currency,
      ${state} as state, ${entry} as kind, case when ${isVoid} then ${released} else ${amount} end as amount,
      not ${isVoid} or (${released} is not null and not ${reported}) as compared,
      ${identifier('a')} as authorization_identifier, s.created_at
    from ${table} s left join hold a on a.request_id = ${holdRequestId}`;
});

/** What the entry of a void or an extension leaves empty is as it must be. */
const orEmpty = (column: string) =>
  `case when e.kind in ('VOID', 'EXTENSION') and e.${column} = '' then f.${column} else e.${column} end`;

/** Done in both books or in neither. An authorization that was given back in full (a late one) counts as not done. */
const RESULTS = `with final as (select *, state = 'OK' as done from (${SENT}) s where compared and state in ('OK', 'KO')
      and s.processor not in (select name from left_out) and not ${isInvalid('s.identifier', 's.processor')}),
  compared as (
    select f.*, e.request_id as entry, coalesce(e.answer = 'APPROVED' and not (e.kind = 'AUTHORIZATION' and not f.done
        and e.captured = 0 and (e.voided = e.amount + e.incremented
        or exists (select from submission r where r.hold_request_id = f.request_id
          and r.kind = 'LATE_VOID' and r.state not in ('OK', 'KO')))), false) as done_there,
      coalesce(e.kind || ' ' || e.answer || ' at ' || e.processor, 'nothing') as there, e.amount as entry_amount,
      ${orEmpty('currency')} as entry_currency, ${orEmpty('merchant_id')} as entry_merchant, e.kind as entry_kind,
      e.authorization_request_id
    from final f left join processor_entry e on e.request_id = f.identifier and e.processor = f.processor
  )
  select case when done and not done_there then 'NOT_DONE_AT_PROCESSOR'
      when not done and done_there then 'DONE_AT_PROCESSOR' else 'AMOUNT_AT_PROCESSOR' end as kind,
    request_id, merchant_id,
    format('%s %s of %s %s for %s', kind, case when done then 'done' else 'not done' end, amount, currency,
      merchant_id) as expected,
    format('%s of %s %s for %s', there, entry_amount, entry_currency, entry_merchant) as found
  from compared
  where done <> done_there or (done and ((amount, currency, merchant_id, kind)
    is distinct from (entry_amount, entry_currency, entry_merchant, entry_kind)
    or authorization_request_id is distinct from authorization_identifier))`;

/**
 * SQL: a capture at the processor that is unknown here, was refunded in full, and has no room in its hold here: what
 * was undone so (`giveBack`) is not booked.
 */
const isUndone = (c: string) => `(${c}.kind = 'CAPTURE' and ${c}.answer = 'APPROVED' and ${c}.refunded > 0
      and ${c}.refunded + ${c}.reversed >= ${c}.amount
      and not exists (select from submission k where ${isSentAs('k', `${c}.request_id`, `${c}.processor`)})
      and exists (select from hold r where ${isSentAs('r', `${c}.authorization_request_id`, `${c}.processor`)}
        and (r.phase = 'FAILED' or case when r.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') then r.remaining
          else r.released end < ${c}.amount)))`;

/**
 * What the processor did under an identifier that is none of ours, and that nothing here explains: a void is explained
 * by a hold that is closed here and gave back as much, and what was undone by itself.
 */
const UNEXPLAINED = `from processor_entry e left join (${SENT}) s
      on s.identifier = e.request_id and s.processor = e.processor and s.kind = e.kind
    left join lateral (select h.* from hold h where e.kind = 'VOID' and s.request_id is null
      and ${isSentAs('h', 'e.authorization_request_id', 'e.processor')}) h on true
    left join processor_entry a on e.kind = 'VOID' and a.request_id = e.authorization_request_id
      and a.processor = e.processor
  where not (e.kind = 'VOID' and s.request_id is null and h.request_id is not null
    and (h.phase = 'FAILED' or (h.remaining + h.in_flight = 0 and h.released >= a.voided)))
    and not ${isUndone('e')}
    and not (e.kind = 'REFUND' and s.request_id is null and exists (select from processor_entry c
      where c.request_id = e.capture_request_id and c.processor = e.processor and ${isUndone('c')}))`;

/** Entries of the processor under identifiers that we do not have, or that we booked as not given back. */
const UNKNOWN_HERE = `select case when s.request_id is null then 'UNKNOWN_HERE' else 'DONE_AT_PROCESSOR' end as kind,
    e.request_id, e.merchant_id,
    case when s.request_id is null then 'nothing under this identifier' else 'a void that was not done' end as expected,
    format('%s approved at %s, %s %s', e.kind, e.processor, e.amount, e.currency) as found
  ${UNEXPLAINED} and e.answer = 'APPROVED' and (e.kind <> 'VOID' or e.amount > 0)
  and (s.request_id is null or (not s.compared and s.state = 'KO'))`;

/**
 * The sums of authorizations. An operation in flight may already be done at the processor. A closed hold has given back
 * what it released, unless the processor answered that nothing was left (then the release has no reference), or ended
 * it by itself: then what an accepted capture held back and did not charge is given back by nobody. A capture that was
 * undone does not count.
 */
const SUMS = `with undone as (
    select c.processor, c.authorization_request_id as id, sum(c.amount) as amount, sum(c.refunded) as refunded,
      sum(c.reversed) as reversed
    from processor_entry c where ${isUndone('c')} group by 1, 2
  ),
  booked as (
    select e.request_id, e.processor, e.incremented, e.voided + coalesce(u.amount, 0) as voided,
      e.captured - coalesce(u.amount, 0) as captured, e.reversed - coalesce(u.reversed, 0) as reversed,
      e.refunded - coalesce(u.refunded, 0) as refunded
    from processor_entry e left join undone u on u.id = e.request_id and u.processor = e.processor
    where e.kind = 'AUTHORIZATION' and e.answer = 'APPROVED'
  )
  select 'SUMS_AT_PROCESSOR' as kind, h.request_id, h.merchant_id,
    format('added %s, charged %s, given back %s, reversed %s, refunded %s, in flight %s, refunding %s',
      h.amount - h.amount_asked, h.captured, h.released, h.reversed, h.refunded, h.in_flight, h.refunding) as expected,
    format('added %s, charged %s, given back %s, reversed %s, refunded %s at %s', e.incremented, e.captured, e.voided,
      e.reversed, e.refunded, e.processor) as found
  from hold h join booked e on e.request_id = ${identifier('h')} and e.processor = h.processor
  where h.phase = 'AUTHORIZED' and (e.captured < h.captured or e.captured > h.captured + h.in_flight
    or e.reversed <> h.reversed or e.refunded not between h.refunded and h.refunded + h.refunding
    or (e.incremented <> h.amount - h.amount_asked and h.changing is distinct from 'INCREMENT')
    or (h.in_flight = 0 and not h.closing and e.voided <> h.released and not (e.voided < h.released and exists (
      select from submission r where r.hold_request_id = h.request_id and r.kind in ('RELEASE', 'EXPIRY')
        and r.state = 'OK' and (r.processor_reference = '' or r.reported)))))`;

/** What is taken back and refunded of each capture. A refund in flight may already be done at the processor. */
const REVERSED = `select 'SUMS_AT_PROCESSOR' as kind, c.request_id, c.merchant_id,
    format('reversed %s, refunded %s, refunding %s', c.amount_reversed, c.amount_refunded,
      c.amount_refunding) as expected, format('reversed %s, refunded %s', e.reversed, e.refunded) as found
  from submission c join processor_entry e on e.request_id = ${identifier('c')} and e.processor = c.processor
    and e.kind = 'CAPTURE' and e.answer = 'APPROVED'
  where c.state = 'OK' and (e.reversed <> c.amount_reversed
    or e.refunded not between c.amount_refunded and c.amount_refunded + c.amount_refunding)`;

/** SQL: what is taken back of the captures of an authorization or hold that were read. */
const OF_CAPTURES_THERE = `(select coalesce(sum(c.reversed), 0) from processor_entry c
    where c.kind = 'CAPTURE' and c.authorization_request_id = e.request_id and c.processor = e.processor)`;
const OF_CAPTURES_HERE = `(select coalesce(sum(k.amount_reversed), 0) from submission k
  where k.hold_request_id = h.request_id
    and exists (select from processor_entry c where c.request_id = ${identifier('k')} and c.processor = k.processor))`;

/**
 * What may be imported or given back: entries that nothing here explains, whatever became of them; captures and holds
 * of ours of which another amount is taken back than is booked here; and open holds of ours that have ended there.
 * Authorizations come first, then what was added to them, then captures, each in the order of time.
 */
export const UNKNOWN_ENTRIES = `select e.*, coalesce(nullif(e.merchant_id, ''), a.merchant_id, '') as merchant_id,
    coalesce(nullif(e.user_id, ''), a.user_id, '') as user_id,
    coalesce(nullif(e.merchant_reference, ''), a.merchant_reference, '') as merchant_reference,
    m.id is not null as is_merchant_known, null as change_here, null::uuid as capture_here, null::uuid as hold_here,
    e.reversed as taken_back, coalesce(a.ended_at is null and a.voided > 0
      and a.captured + a.voided = a.amount + a.incremented, false) as closes_authorization,
    array_position(array['AUTHORIZATION', 'INCREMENT', 'EXTENSION', 'CAPTURE', 'VOID', 'CREDIT', 'REFUND'],
      e.kind) as turn
  from processor_entry e
    left join processor_entry a on a.request_id = e.authorization_request_id and a.processor = e.processor
    left join merchant m on m.id = coalesce(nullif(e.merchant_id, ''), a.merchant_id)
  where (e.request_id, e.processor) in (select e.request_id, e.processor ${UNEXPLAINED} and s.request_id is null
      and e.answer in ('APPROVED', 'ACCEPTED', 'UNSPECIFIED') and e.kind <> 'FENCE'
      and (e.kind <> 'VOID' or e.amount > 0))
  union all
  select e.*, e.merchant_id, e.user_id, e.merchant_reference, true, 'REVERSAL', k.request_id, k.hold_request_id,
    e.reversed, false, 8
  from processor_entry e join submission k on ${identifier('k')} = e.request_id and k.processor = e.processor
  where e.kind = 'CAPTURE' and e.answer = 'APPROVED' and k.state = 'OK' and e.reversed <> k.amount_reversed
  union all
  select e.*, e.merchant_id, e.user_id, e.merchant_reference, true, 'REVERSAL', null, h.request_id,
    e.reversed - ${OF_CAPTURES_THERE}, false, 9
  from processor_entry e join hold h on ${identifier('h')} = e.request_id and h.processor = e.processor
  where e.kind = 'AUTHORIZATION' and e.answer = 'APPROVED'
    and e.reversed - ${OF_CAPTURES_THERE} <> h.reversed - ${OF_CAPTURES_HERE}
  union all
  select e.*, e.merchant_id, e.user_id, e.merchant_reference, true, 'END', null, h.request_id, 0, false, 10
  from processor_entry e join hold h on ${identifier('h')} = e.request_id and h.processor = e.processor
  where e.kind = 'AUTHORIZATION' and e.answer = 'APPROVED' and e.ended_at is not null and h.phase = 'AUTHORIZED'
    and h.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and h.ended_as is null
  order by turn, acted_at, request_id`;

/** Where a processor's books contradict themselves: request_id, authorization_request_id and what. */
export const DOUBTS = `with sums as (
    select processor, authorization_request_id as id, sum(amount) filter (where kind = 'CAPTURE') as captured,
      sum(amount) filter (where kind = 'VOID') as voided, sum(amount) filter (where kind = 'REFUND') as refunded,
      sum(amount) filter (where kind = 'INCREMENT') as incremented
    from processor_entry where answer = 'APPROVED' and authorization_request_id is not null group by 1, 2
  ),
  compared as (
    select coalesce(a.request_id, s.id) as id, coalesce(a.processor, s.processor) as processor,
      coalesce(a.answer = 'APPROVED', false) as is_placed,
      a.amount + a.incremented as placed, a.incremented, a.captured, a.voided, a.refunded, a.reversed,
      coalesce(s.captured, 0) as sum_captured, coalesce(s.voided, 0) as sum_voided,
      coalesce(s.refunded, 0) as sum_refunded, coalesce(s.incremented, 0) as sum_incremented
    from (select * from processor_entry where kind = 'AUTHORIZATION') a
      full join sums s on s.id = a.request_id and s.processor = a.processor
  )
  select * from (select id as request_id, processor, case
      when not is_placed then case when sum_captured + sum_voided > 0 and not ${isInvalid('c.id', 'c.processor')}
        then 'was charged or given back, and was never placed' end
      when sum_captured > captured then 'was charged less than its captures'
      when sum_voided > voided then 'gave back less than its voids'
      when sum_incremented > incremented then 'was added less than its increments'
      when captured + voided > placed then 'was charged and gave back more than was placed'
      when sum_refunded > refunded then 'was refunded less than its refunds'
      when refunded + reversed > captured then 'gave back more of its captures than was charged' end as what
    from compared c) doubts where what is not null
  union all
  select e.request_id, e.processor, 'belongs to another merchant than its authorization' from processor_entry e
    join processor_entry a on a.request_id = e.authorization_request_id and a.processor = e.processor
  where e.merchant_id <> '' and e.merchant_id <> a.merchant_id
  union all
  select request_id, processor, 'stands there twice, as different operations' from processor_entry where contradicts`;

/** How many operations, read or since a time ($2), are done here at a processor ($1), and not so in its books. */
export const KNOWN_THERE = `select count(*)::int as known, count(*) filter (where is_wrong)::int as wrong,
    (min(request_id::text) filter (where is_wrong)) as first from (
    select f.request_id, e.request_id is null or e.answer <> 'APPROVED'
      or (${orEmpty('merchant_id')}, e.amount, ${orEmpty('currency')}, e.kind)
        is distinct from (f.merchant_id, f.amount, f.currency, f.kind) as is_wrong
    from (${SENT}) f left join processor_entry e on e.request_id = f.identifier and e.processor = f.processor
    where f.compared and f.state = 'OK' and f.processor = $1 and (e.request_id is not null or f.created_at >= $2)
      and not ${isInvalid('f.identifier', 'f.processor')}) k`;

export const LEDGER_QUERIES: readonly string[] = [INVALID_ENTRIES, RESULTS, UNKNOWN_HERE, SUMS, REVERSED];
