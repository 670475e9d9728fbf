-- Compares our books with themselves and with a copy of the processors' books. `npm run audit` and `npm run reconcile`
-- run this file in a session of their own, to which these tables and views belong, and fill the tables
-- (copy-entries.ts). In psql: \i compared-books.sql, then fill `kind`, and query the views.

-- What follows from the kind of a submission: SUBMISSION_KINDS of domain/kinds.ts, and the status of its operation's
-- success in OPERATION_KINDS.
create temporary table kind (
  kind text primary key, operation text, entry text not null, reserves text, must_happen boolean not null, success text
);

-- The copy: entries as the contract has them. contradicts = what was read of it first was something else.
create temporary table processor_entry (
  request_id uuid, processor text, kind text, answer text, authorization_request_id uuid, capture_request_id uuid,
  merchant_id text, account text, terminal_id text, user_id text, token_id text, operation_request_id text,
  merchant_reference text, memo text, amount bigint, currency text, captured bigint, voided bigint, reversed bigint,
  incremented bigint, refunded bigint, returned bigint, acted_at timestamptz, ended_at timestamptz,
  contradicts boolean not null,
  primary key (request_id, processor)
);

-- Entries that break the contract, so nothing is compared with them. An identifier that is none is empty.
create temporary table invalid_entry (
  request_id text, processor text, what text not null, primary key (request_id, processor)
);

-- Processors whose books could not be read, so they are not compared.
create temporary table left_out (processor text primary key, why text not null);

create temporary view our_hold as
  select h.*, coalesce(h.processor_request_id, h.request_id) as identifier from hold h;

create temporary view our_renewal as
  select *, coalesce(processor_request_id, request_id) as identifier from submission where kind = 'RENEWAL';

-- Each authorization of each hold: its placing (authorization_id is null), and its renewals. is_present = the hold counts
-- on it.
create temporary view our_authorization as
  select h.request_id as hold_request_id, h.request_id, null::uuid as authorization_id, h.identifier, h.processor,
    h.authorization_id is null as is_present
  from our_hold h
  union all
  select h.request_id, r.request_id, r.request_id, r.identifier, r.processor, h.authorization_id is not distinct from r.request_id
  from our_renewal r join hold h on h.request_id = r.hold_request_id;

create temporary view our_submission as
  select s.*, k.operation, k.entry, k.reserves, k.must_happen, k.success, s.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW') as is_open,
    -- It ends its hold by giving back what remains; or it changes the hold without moving money. A late void does
    -- neither, and has no result of its own. A renewal delays nothing.
    k.operation is not null and k.entry = 'VOID' as is_end,
    k.operation is not null and k.reserves is null and s.hold_request_id is not null and k.entry <> 'AUTHORIZATION'
      as is_change,
    coalesce(s.processor_request_id, s.request_id) as identifier,
    coalesce(r.identifier, h.processor_request_id, h.request_id) as authorization_identifier,
    -- What a refund or an OCT has paid out.
    case when s.state = 'OK' then s.amount - s.amount_returned else 0 end as paid_out
  from submission s join kind k on k.kind = s.kind left join hold h on h.request_id = s.hold_request_id
    left join our_renewal r on r.request_id = s.authorization_id;

-- What an operation took back of a capture or hold; a reinstatement gives it again.
create temporary view taken_back as
  select merchant_id, hold_request_id, capture_request_id,
    case kind when 'REVERSAL' then amount else -amount end as amount
  from operation where kind in ('REVERSAL', 'REINSTATEMENT');

-- What came back of a refund or an OCT.
create temporary view came_back as
  select merchant_id, coalesce(refund_request_id, oct_request_id) as subject, amount
  from operation where kind in ('REFUND_RETURN', 'OCT_RETURN');

-- Our books alone: each check returns kind, request_id, merchant_id, expected and found. Below `results_from` the log
-- has no results any more (storage/partitions.ts).

-- Each hold with what its submissions and results add up to.
create temporary view reckoned as
  with submitted as (
    select s.hold_request_id,
      sum(s.amount) filter (where s.kind = 'CAPTURE' and s.state = 'OK') as captured,
      sum(s.paid_out) filter (where s.reserves = 'CAPTURED') as refunded,
      sum(s.amount) filter (where s.reserves = 'CAPTURED' and s.is_open) as refunding,
      sum(s.amount) filter (where s.kind = 'INCREMENT' and s.state = 'OK') as incremented,
      sum(s.amount) filter (where s.reserves = 'REMAINING' and s.is_open) as in_flight,
      -- What gave something back and left something to capture. A partial release that was corrected says no amount; a
      -- capture says what it left to a void of its authorization, which a renewal had replaced when it was corrected.
      sum(coalesce(s.amount_released, case s.entry when 'DECREASE' then s.amount end))
        filter (where s.reserves = 'REMAINING'
          and (s.state = 'OK' or (s.kind = 'CAPTURE' and s.state = 'KO' and s.first_state is not null))) as given,
      min(s.kind) filter (where s.is_change and s.is_open) as changing,
      bool_or(s.is_open and (s.is_end or s.entry = 'DECREASE'
        or (s.kind = 'CAPTURE' and (s.final_capture or not h.allow_multiple_captures)))) as closing
    from our_submission s join hold h on h.request_id = s.hold_request_id group by 1
  ),
  reversed as (select hold_request_id, sum(amount) as reversed from taken_back group by 1),
  summed as (
    select h.*, h.status not in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') as closed,
      case h.phase when 'AUTHORIZED' then h.amount_asked + coalesce(s.incremented, 0) else 0 end as held,
      h.amount_asked + coalesce(s.incremented, 0) as sum_amount, coalesce(s.captured, 0) as sum_captured,
      coalesce(s.in_flight, 0) as sum_in_flight, coalesce(s.given, 0) as given,
      case when h.request_id < (select results_from from installation) then h.reversed else coalesce(r.reversed, 0) end
        as sum_reversed,
      coalesce(s.refunded, 0) as sum_refunded, coalesce(s.refunding, 0) as sum_refunding,
      s.changing as sum_changing, coalesce(s.closing, false) as sum_closing
    from hold h left join submitted s on s.hold_request_id = h.request_id
      left join reversed r on r.hold_request_id = h.request_id
  )
  select *, case when closed then 0 else held - sum_captured - sum_in_flight - given end as sum_remaining,
    case when closed then held - sum_captured - sum_in_flight else given end as sum_released
  from summed;

-- docs/product.md, "Books": the counters follow from what was captured, added, released and reversed.
create temporary view hold_counters as
  select 'HOLD_COUNTERS' as kind, request_id, merchant_id,
    format('amount %s, captured %s, in flight %s, remaining %s, released %s, reversed %s, refunded %s, refunding %s',
      sum_amount, sum_captured, sum_in_flight, sum_remaining, sum_released, sum_reversed, sum_refunded, sum_refunding)
      as expected,
    format('amount %s, captured %s, in flight %s, remaining %s, released %s, reversed %s, refunded %s, refunding %s',
      amount, captured, in_flight, remaining, released, reversed, refunded, refunding) as found
  from reckoned
  where (amount, captured, in_flight, remaining, released, reversed, refunded, refunding) is distinct from
    (sum_amount, sum_captured, sum_in_flight, sum_remaining, sum_released, sum_reversed, sum_refunded, sum_refunding);

-- The status of a hold, and whether it is closing or changing, follow from its submissions.
create temporary view hold_state as
  select 'HOLD_STATE' as kind, request_id, merchant_id,
    case when sum_closing <> closing then format('closing %s', sum_closing)
      when sum_changing is distinct from changing then format('changing %s', sum_changing)
      else format('a status for %s captured', sum_captured) end as expected,
    format('%s, closing %s, changing %s', status, closing, changing) as found
  from reckoned
  where sum_closing <> closing or sum_changing is distinct from changing
    or (status in ('PARTIALLY_CAPTURED', 'CAPTURED')) <> (sum_captured > 0);

-- What a hold says of its authorizations follows from its renewals: the one without a result, if there is one; the last
-- one that was made; and one that was given up and has no void yet, if there is one. Those that it counts on have none.
create temporary view authorizations_differ as
  with kept as (
    select request_id from hold where coalesce(renewal_id, authorization_id, to_void) is not null
    union select hold_request_id from our_renewal
  ),
  reckoned_of as (
    select h.*, array_remove(array[h.renewal_id], null) as open_here, array_remove(array[h.authorization_id], null) as last_here,
      array_remove(array[h.to_void], null) as given_up_here, r.*, g.*,
      h.phase = 'AUTHORIZED' and exists (select from submission v
        where v.hold_request_id = h.request_id and v.kind = 'LATE_VOID' and v.state <> 'KO'
          and v.authorization_id is not distinct from h.authorization_id) as is_voided
    from kept k join hold h on h.request_id = k.request_id
      cross join lateral (
        select coalesce(array_agg(r.request_id) filter (where r.state not in ('OK', 'KO')), '{}') as open,
          coalesce(array_agg(r.request_id) filter (where r.state = 'OK' and not exists (select from our_renewal n
            where n.hold_request_id = h.request_id and n.state = 'OK' and n.authorization_id = r.request_id)), '{}') as last
        from our_renewal r where r.hold_request_id = h.request_id) r
      cross join lateral (
        select coalesce(array_agg(u.id), '{}') as given_up
        from (
          select case r.state when 'OK' then coalesce(r.authorization_id, h.request_id) else r.request_id end as id
          from our_renewal r where r.hold_request_id = h.request_id
            and (r.state = 'OK' or (r.state = 'KO' and r.processor_code = 'overtaken'))) u
        where not exists (select from submission v where v.hold_request_id = h.request_id and v.kind = 'LATE_VOID'
          and coalesce(v.authorization_id, v.hold_request_id) = u.id)) g
  )
  select 'AUTHORIZATIONS_DIFFER' as kind, request_id, merchant_id,
    format('renewing %s, authorization %s, to void %s', open, last, given_up) as expected,
    format('renewing %s, authorization %s%s, to void %s', open_here, last_here,
      case when is_voided then ' that is given back' end, given_up_here) as found
  from reckoned_of
  where is_voided or (open, last, given_up) is distinct from (open_here, last_here, given_up_here);

-- The hold of each submission exists, with the same merchant and currency.
create temporary view submission_without_hold as
  select 'SUBMISSION_WITHOUT_HOLD' as kind, s.request_id, s.merchant_id,
    format('a hold of %s in %s', s.merchant_id, s.currency) as expected,
    coalesce(format('hold of %s in %s', h.merchant_id, h.currency), 'none') as found
  from submission s left join hold h on h.request_id = s.hold_request_id
  where s.hold_request_id is not null
    and (h.request_id is null or (h.merchant_id, h.currency) is distinct from (s.merchant_id, s.currency));

-- What was taken back of a capture is what the log's reversals and reinstatements of it add up to.
create temporary view reversals_differ as
  with logged as (
    select capture_request_id, min(merchant_id) as merchant_id, sum(amount) as reversed
    from taken_back where capture_request_id is not null group by 1
  )
  select 'REVERSALS_DIFFER' as kind, coalesce(c.request_id, l.capture_request_id) as request_id,
    coalesce(c.merchant_id, l.merchant_id) as merchant_id, format('%s taken back', coalesce(l.reversed, 0)) as expected,
    coalesce(format('%s', c.amount_reversed), 'no capture') as found
  from logged l full join (select * from submission where amount_reversed > 0) c on c.request_id = l.capture_request_id
  where coalesce(l.reversed, 0) <> coalesce(c.amount_reversed, 0)
    and coalesce(c.request_id, l.capture_request_id) >= (select results_from from installation);

-- What came back of a refund or an OCT is what the log's returns of it add up to.
create temporary view returns_differ as
  with logged as (
    select subject, min(merchant_id) as merchant_id, sum(amount) as returned from came_back group by 1
  )
  select 'RETURNS_DIFFER' as kind, coalesce(s.request_id, l.subject) as request_id,
    coalesce(s.merchant_id, l.merchant_id) as merchant_id, format('%s returned', coalesce(l.returned, 0)) as expected,
    coalesce(format('%s', s.amount_returned), 'no refund or OCT') as found
  from logged l full join (select * from submission where amount_returned > 0) s on s.request_id = l.subject
  where coalesce(l.returned, 0) <> coalesce(s.amount_returned, 0)
    and coalesce(s.request_id, l.subject) >= (select results_from from installation);

-- The result of what was corrected is that of its last correction.
create temporary view corrections_differ as
  with logged as (
    select distinct on (corrects_request_id) corrects_request_id, status, merchant_id from operation
    where kind = 'CORRECTION' order by corrects_request_id, sequence desc
  )
  select 'CORRECTIONS_DIFFER' as kind, coalesce(s.request_id, l.corrects_request_id) as request_id,
    coalesce(s.merchant_id, l.merchant_id) as merchant_id,
    coalesce(format('corrected to %s', l.status), 'not corrected') as expected,
    case when s.request_id is null then 'not corrected' else format('corrected to %s', s.state) end as found
  from logged l full join (select * from submission where first_state is not null) s
    on s.request_id = l.corrects_request_id
  where l.status is distinct from s.state
    and coalesce(s.request_id, l.corrects_request_id) >= (select results_from from installation);

-- What is refunded of a capture, or reserved, is what its refunds add up to, less what came back of them; each has a
-- capture of its hold.
create temporary view refunds_differ as
  with refunded as (
    select capture_request_id, hold_request_id, min(merchant_id) as merchant_id,
      sum(paid_out) as refunded,
      coalesce(sum(amount) filter (where is_open), 0) as refunding
    from our_submission where reserves = 'CAPTURED' group by 1, 2
  )
  select 'REFUNDS_DIFFER' as kind, coalesce(c.request_id, r.capture_request_id) as request_id,
    coalesce(c.merchant_id, r.merchant_id) as merchant_id,
    format('refunded %s, refunding %s', coalesce(r.refunded, 0), coalesce(r.refunding, 0)) as expected,
    coalesce(format('refunded %s, refunding %s', c.amount_refunded, c.amount_refunding), 'no capture') as found
  from refunded r full join (select * from submission where kind = 'CAPTURE') c
    on c.request_id = r.capture_request_id and c.hold_request_id = r.hold_request_id
  where (coalesce(r.refunded, 0), coalesce(r.refunding, 0)) is distinct from (c.amount_refunded, c.amount_refunding);

-- Each result that the log must have, and each that it has: the first one, when it was corrected. An amount that is null
-- may be any. What gives up a checkout is the hold's own result. A refusal of what must happen has none, because it is
-- tried again, nor may a success that gave less back than was left, nor a renewal that never arrived or was overtaken.
create temporary view operations_differ as
  with expected as (
    select 'HOLD' as kind, request_id as subject, case phase when 'AUTHORIZED' then 'OK' else 'KO' end as status,
      amount_asked as amount, merchant_id, null::uuid as hold_request_id, false as may_lack
    from hold where phase in ('AUTHORIZED', 'FAILED')
    union all
    select kind, request_id, coalesce(first_state, state), amount, merchant_id, hold_request_id, false
    from our_submission where operation is not null and not is_end and not is_open
      and not (kind = 'RENEWAL' and state = 'KO' and coalesce(processor_code, '') in ('overtaken', 'never_received'))
    union all
    select s.kind, s.request_id, case when s.state = 'OK' then s.success else 'KO' end,
      coalesce(s.amount_released, nullif(s.amount, 0)), s.merchant_id, s.hold_request_id,
      s.must_happen and not s.reported and coalesce(s.amount_released < s.amount, false)
    from our_submission s join hold h on h.request_id = s.hold_request_id
    where s.is_end
      and ((s.state = 'OK' and h.phase = 'AUTHORIZED') or (s.state = 'KO' and not s.must_happen))
  ),
  logged as (
    select kind, request_id as subject, status, amount, merchant_id, hold_request_id from operation
    where kind = 'HOLD' or kind in (select k.operation from kind k)
  )
  select case when l.subject is null then 'OPERATION_MISSING' when e.subject is null then 'OPERATION_WITHOUT_SUBMISSION'
      else 'OPERATION_DIFFERS' end as kind,
    coalesce(e.subject, l.subject) as request_id, coalesce(e.merchant_id, l.merchant_id) as merchant_id,
    coalesce(format('%s %s of %s, hold %s', e.kind, e.status, e.amount, e.hold_request_id), 'no result') as expected,
    coalesce(format('%s %s of %s, hold %s', l.kind, l.status, l.amount, l.hold_request_id), 'none') as found
  from expected e full join logged l on l.kind = e.kind and l.subject = e.subject
  where coalesce(e.subject, l.subject) >= (select results_from from installation)
    and case when l.subject is null then not e.may_lack when e.subject is null then true
      else l.status <> e.status or l.amount <> coalesce(e.amount, l.amount) or l.merchant_id <> e.merchant_id
        or l.hold_request_id is distinct from e.hold_request_id end;

-- Our books beside the processors': checks of the same columns, then what may be imported or given back.

-- Everything that was sent, with the kind of its entry. Of a void only the processor knows what there was to give back,
-- so it is compared where it has said so.
create temporary view sent as
  select request_id, identifier, processor, merchant_id, currency, 'AUTHORIZATION' as kind, amount_asked as amount,
    case phase when 'AUTHORIZED' then 'OK' when 'FAILED' then 'KO' else 'OPEN' end as state, true as compared,
    null::uuid as authorization_identifier, created_at, 0 as returned, request_id as hold_request_id
  from our_hold
  union all
  select request_id, identifier, processor, merchant_id, currency, entry,
    case when entry = 'VOID' then amount_released else amount end,
    state, entry <> 'VOID' or (amount_released is not null and not reported), authorization_identifier, created_at,
    amount_returned, hold_request_id
  from our_submission;

-- A capture at the processor that is unknown here, was refunded or taken back in full, and will have no room in its
-- hold here, with what was added to it there: what was refunded so (undo-entry.ts) is not booked. An authorization that
-- is not its hold's any more has no room.
create temporary view undone as
  select c.* from processor_entry c
    join our_authorization o on o.identifier = c.authorization_request_id and o.processor = c.processor
    join hold h on h.request_id = o.hold_request_id
    left join processor_entry a on a.request_id = c.authorization_request_id and a.processor = c.processor
  where c.kind = 'CAPTURE' and c.answer = 'APPROVED' and c.refunded + c.reversed >= c.amount
    and not exists (select from our_submission k where k.identifier = c.request_id and k.processor = c.processor)
    and (h.phase = 'FAILED' or (h.phase = 'AUTHORIZED' and (not o.is_present or c.amount > h.in_flight
      + greatest(coalesce(a.incremented, 0) - case when h.authorization_id is null then h.amount - h.amount_asked else (
          select coalesce(sum(i.amount), 0) from submission i where i.hold_request_id = h.request_id
            and i.kind = 'INCREMENT' and i.state = 'OK' and i.authorization_id = h.authorization_id) end, 0)
      + case when h.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') then h.remaining else h.released end)));

create temporary view undone_of as
  select processor, authorization_request_id as id, sum(amount) as amount, sum(refunded) as refunded,
    sum(reversed) as reversed
  from undone group by 1, 2;

-- What was sent and can be compared, beside its entry. What a void or an extension leaves empty is as it must be.
create temporary view matched as
  select s.*, e.answer as answer_there, e.kind as kind_there, e.amount as amount_there, e.returned as returned_there,
    -- All of it came back: it counts as not done, since a processor may say that of it.
    s.kind in ('REFUND', 'CREDIT') and s.returned = s.amount as is_back,
    s.kind in ('REFUND', 'CREDIT') and e.returned = e.amount as is_back_there,
    case when e.kind in ('VOID', 'EXTENSION') and e.currency = '' then s.currency else e.currency end as currency_there,
    case when e.kind in ('VOID', 'EXTENSION') and e.merchant_id = '' then s.merchant_id else e.merchant_id end
      as merchant_there,
    e.authorization_request_id as authorization_there,
    -- An authorization that its hold does not count on was given back in full but for captures that were undone, or is
    -- being given back.
    e.kind = 'AUTHORIZATION' and e.captured = coalesce(u.amount, 0)
      and (e.captured + e.voided = e.amount + e.incremented
        or exists (select from submission v where v.hold_request_id = s.hold_request_id and v.kind = 'LATE_VOID'
          and coalesce(v.authorization_id, v.hold_request_id) = s.request_id and v.state not in ('OK', 'KO'))
        or exists (select from hold h where h.request_id = s.hold_request_id and h.to_void = s.request_id))
      as given_back_there
  from sent s left join processor_entry e on e.request_id = s.identifier and e.processor = s.processor
    left join undone_of u on u.id = e.request_id and u.processor = e.processor
  where s.compared and s.processor not in (select processor from left_out)
    and not exists (select from invalid_entry i where i.request_id = s.identifier::text and i.processor = s.processor);

create temporary view invalid_entries as
  select 'INVALID_ENTRY' as kind, request_id, '' as merchant_id, 'an entry by the contract' as expected,
    format('%s, at %s', what, processor) as found
  from invalid_entry;

-- Done in both books or in neither. An authorization that was given back in full (a late one) counts as not done.
create temporary view results_differ as
  with compared as (
    select *, state = 'OK' and not is_back as done,
      coalesce(answer_there = 'APPROVED' and not is_back_there and (state = 'OK' or not given_back_there), false)
        as done_there
    from matched where state in ('OK', 'KO')
  )
  select case when done and not done_there then 'NOT_DONE_AT_PROCESSOR'
      when not done and done_there then 'DONE_AT_PROCESSOR' else 'AMOUNT_AT_PROCESSOR' end as kind,
    request_id, merchant_id,
    format('%s %s of %s %s for %s', kind, case when done then 'done' else 'not done' end, amount, currency,
      merchant_id) || case when returned > 0 then format(', %s returned', returned) else '' end as expected,
    format('%s of %s %s for %s', coalesce(kind_there || ' ' || answer_there || ' at ' || processor, 'nothing'),
      amount_there, currency_there, merchant_there)
      || case when returned_there > 0 then format(', %s returned', returned_there) else '' end as found
  from compared
  where done <> done_there or (done and ((amount, currency, merchant_id, kind, authorization_identifier, returned)
    is distinct from (amount_there, currency_there, merchant_there, kind_there, authorization_there, returned_there)));

-- What the processor did under an identifier that is none of ours, and that nothing here explains: a void is explained
-- by a hold that is closed here and gave back as much, or by another void of an authorization that its hold does not
-- count on; and what was undone by itself.
create temporary view unexplained as
  select e.* from processor_entry e
    left join our_authorization o on e.kind = 'VOID' and o.identifier = e.authorization_request_id
      and o.processor = e.processor
    left join hold h on h.request_id = o.hold_request_id
    left join processor_entry a on e.kind = 'VOID' and a.request_id = e.authorization_request_id
      and a.processor = e.processor
  where not exists (
      select from sent s where s.identifier = e.request_id and s.processor = e.processor and s.kind = e.kind)
    and not exists (
      select from undone u where u.processor = e.processor
        and u.request_id = case e.kind when 'CAPTURE' then e.request_id when 'REFUND' then e.capture_request_id end)
    and not coalesce(h.phase = 'FAILED' or case when o.is_present
      then h.remaining + h.in_flight = 0 and h.released >= a.voided
      else exists (select from submission v where v.hold_request_id = o.hold_request_id and v.kind = 'LATE_VOID'
        and v.state <> 'KO' and v.authorization_id is not distinct from o.authorization_id) end, false);

-- Entries of the processor under identifiers that we do not have, or that we booked as not given back.
create temporary view unknown_here as
  select 'UNKNOWN_HERE' as kind, request_id, merchant_id, 'nothing under this identifier' as expected,
    format('%s approved at %s, %s %s', kind, processor, amount, currency) as found
  from unexplained where answer = 'APPROVED' and (kind <> 'VOID' or amount > 0)
  union all
  select 'DONE_AT_PROCESSOR', e.request_id, e.merchant_id, 'a void that was not done',
    format('%s approved at %s, %s %s', e.kind, e.processor, e.amount, e.currency)
  from processor_entry e
    join sent s on s.identifier = e.request_id and s.processor = e.processor and s.kind = e.kind
  where e.answer = 'APPROVED' and e.amount > 0 and s.state = 'KO' and not s.compared;

-- The sums of authorizations. An operation in flight may already be done at the processor. A closed hold has given back
-- what it released, unless the processor answered that nothing was left (then the release has no reference), or ended
-- it by itself: then what an accepted capture held back and did not charge is given back by nobody. A capture that was
-- undone does not count. A hold that was renewed has the sums of all its authorizations; those that it does not count on
-- gave back besides what they held when they were given up: what replaced them, or, if that was themselves, all.
create temporary view sums_of_holds as
  with booked as not materialized (
    select e.request_id, e.processor, e.amount, e.incremented, e.voided + coalesce(u.amount, 0) as voided,
      e.captured - coalesce(u.amount, 0) as captured, e.reversed - coalesce(u.reversed, 0) as reversed,
      e.refunded - coalesce(u.refunded, 0) as refunded
    from processor_entry e left join undone_of u on u.id = e.request_id and u.processor = e.processor
    where e.kind = 'AUTHORIZATION' and e.answer = 'APPROVED'
  ),
  renewed as (
    select r.hold_request_id, sum(b.incremented) as incremented, sum(b.voided) as voided, sum(b.captured) as captured,
      sum(b.reversed) as reversed, sum(b.refunded) as refunded,
      coalesce(sum(b.amount) filter (where r.state in ('OK', 'KO')), 0) as given_up
    from our_renewal r join booked b on b.request_id = r.identifier and b.processor = r.processor group by 1
  ),
  summed as (
    select h.*, b.processor as at, b.incremented + coalesce(r.incremented, 0) as sum_added,
      b.voided + coalesce(r.voided, 0) as sum_voided, b.captured + coalesce(r.captured, 0) as sum_captured,
      b.reversed + coalesce(r.reversed, 0) as sum_reversed, b.refunded + coalesce(r.refunded, 0) as sum_refunded,
      h.released + coalesce(r.given_up, 0) as given_back
    from our_hold h join booked b on b.request_id = h.identifier and b.processor = h.processor
      left join renewed r on r.hold_request_id = h.request_id
    where h.phase = 'AUTHORIZED'
  )
  select 'SUMS_AT_PROCESSOR' as kind, request_id, merchant_id,
    format('added %s, charged %s, given back %s, reversed %s, refunded %s, in flight %s, refunding %s',
      amount - amount_asked, captured, given_back, reversed, refunded, in_flight, refunding) as expected,
    format('added %s, charged %s, given back %s, reversed %s, refunded %s at %s', sum_added, sum_captured, sum_voided,
      sum_reversed, sum_refunded, at) as found
  from summed h
  where sum_captured < captured or sum_captured > captured + in_flight
    or sum_reversed <> reversed or sum_refunded not between refunded and refunded + refunding
    or (sum_added <> amount - amount_asked and changing is distinct from 'INCREMENT')
    or (in_flight = 0 and not closing and sum_voided <> given_back and to_void is null
      and not exists (select from submission v where v.hold_request_id = h.request_id and v.kind = 'LATE_VOID'
        and v.state not in ('OK', 'KO'))
      and not (sum_voided < given_back and exists (
        select from our_submission r where r.hold_request_id = h.request_id and (r.is_end or r.kind = 'LATE_VOID')
          and r.state = 'OK' and (r.processor_reference = '' or r.reported))));

-- What is taken back and refunded of each capture. A refund in flight may already be done at the processor.
create temporary view sums_of_captures as
  select 'SUMS_AT_PROCESSOR' as kind, c.request_id, c.merchant_id,
    format('reversed %s, refunded %s, refunding %s', c.amount_reversed, c.amount_refunded, c.amount_refunding)
      as expected,
    format('reversed %s, refunded %s', e.reversed, e.refunded) as found
  from our_submission c join processor_entry e on e.request_id = c.identifier and e.processor = c.processor
    and e.kind = 'CAPTURE' and e.answer = 'APPROVED'
  where c.state = 'OK' and (e.reversed <> c.amount_reversed
    or e.refunded not between c.amount_refunded and c.amount_refunded + c.amount_refunding);

-- The authorizations there that renew others: the first of their chain, and how many came before in it. An approved one
-- was overtaken when another one renews the same, or something was done with that one afterwards.
create temporary view chained as
  with recursive link as (
    select e.request_id, e.processor, e.authorization_request_id as first, 1 as generation
    from processor_entry e left join processor_entry b on b.request_id = e.authorization_request_id
      and b.processor = e.processor and b.kind = 'AUTHORIZATION'
    where e.kind = 'AUTHORIZATION' and e.authorization_request_id is not null and b.authorization_request_id is null
    union all
    select e.request_id, e.processor, l.first, l.generation + 1
    from link l join processor_entry e on e.authorization_request_id = l.request_id and e.processor = l.processor
      and e.kind = 'AUTHORIZATION'
  )
  select l.*, e.authorization_request_id as renewed, e.answer = 'APPROVED' as is_approved,
    e.answer = 'APPROVED' and exists (select from processor_entry n
      where n.authorization_request_id = e.authorization_request_id and n.processor = e.processor
        and n.answer = 'APPROVED' and n.kind in ('AUTHORIZATION', 'CAPTURE', 'INCREMENT', 'DECREASE', 'EXTENSION')
        and (n.acted_at, n.request_id) > (e.acted_at, e.request_id)) as is_overtaken
  from link l join processor_entry e on e.request_id = l.request_id and e.processor = l.processor;

-- What may be imported or given back: entries that nothing here explains, whatever became of them; and changes of what
-- is known here: captures and holds of which another amount is taken back than is booked (REVERSAL), refunds and OCTs of
-- which more came back (RETURN), open holds that have ended there (END), and, while reconciling, renewals that have no
-- result here. In their turn: authorizations first, then what was added to them, then captures. Of a chain all of this
-- comes before the next renewal, and after that the void of what it replaced; a void of what was overtaken comes at once.
create temporary view unknown_entry as
  with renewed_of as (
    select r.hold_request_id, sum(e.reversed - there.reversed) as reversed
    from our_renewal r join processor_entry e on e.request_id = r.identifier and e.processor = r.processor
      cross join lateral (
        select coalesce(sum(c.reversed), 0) as reversed from processor_entry c
        where c.kind = 'CAPTURE' and c.authorization_request_id = e.request_id and c.processor = e.processor) there
    group by 1
  ),
  unknown as (
    select request_id, processor, null as change_here, null::uuid as subject_here, null::uuid as hold_here,
      reversed + returned as taken_back,
      array_position(array['AUTHORIZATION', 'INCREMENT', 'EXTENSION', 'DECREASE', 'CAPTURE', 'VOID', 'CREDIT', 'REFUND'], kind)
        as turn
    from unexplained
    where answer in ('APPROVED', 'ACCEPTED', 'UNSPECIFIED') and kind <> 'FENCE'
      and (kind <> 'VOID' or amount > 0 or answer = 'ACCEPTED')
    union all
    select e.request_id, e.processor, 'REVERSAL', k.request_id, k.hold_request_id, e.reversed, 9
    from processor_entry e join our_submission k on k.identifier = e.request_id and k.processor = e.processor
    where e.kind = 'CAPTURE' and e.answer = 'APPROVED' and k.state = 'OK' and e.reversed <> k.amount_reversed
    union all
    -- Of a hold and none of the captures that were read.
    select e.request_id, e.processor, 'REVERSAL', null, h.request_id,
      e.reversed - there.reversed + coalesce(n.reversed, 0), 10
    from processor_entry e join our_hold h on h.identifier = e.request_id and h.processor = e.processor
      left join renewed_of n on n.hold_request_id = h.request_id
      cross join lateral (
        select coalesce(sum(c.reversed), 0) as reversed from processor_entry c
        where c.kind = 'CAPTURE' and c.authorization_request_id = e.request_id and c.processor = e.processor) there
      cross join lateral (
        select coalesce(sum(k.amount_reversed), 0) as reversed from our_submission k
          join processor_entry c on c.request_id = k.identifier and c.processor = k.processor
        where k.hold_request_id = h.request_id) here
    where e.kind = 'AUTHORIZATION' and e.answer = 'APPROVED'
      and e.reversed - there.reversed + coalesce(n.reversed, 0) <> h.reversed - here.reversed
    union all
    select e.request_id, e.processor, 'RETURN', k.request_id, k.hold_request_id, e.returned, 11
    from processor_entry e join our_submission k on k.identifier = e.request_id and k.processor = e.processor
      and k.entry = e.kind
    where e.kind in ('REFUND', 'CREDIT') and e.answer = 'APPROVED' and k.state = 'OK'
      and e.returned > k.amount_returned
    union all
    select e.request_id, e.processor, 'END', null, h.request_id, 0, 12
    from processor_entry e join our_authorization o on o.identifier = e.request_id and o.processor = e.processor
      join hold h on h.request_id = o.hold_request_id
    where e.kind = 'AUTHORIZATION' and e.answer = 'APPROVED' and e.ended_at is not null and h.phase <> 'FAILED'
      and h.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and h.ended_as is null and o.is_present
    union all
    select e.request_id, e.processor, 'RENEWAL', r.request_id, r.hold_request_id, 0, 1
    from processor_entry e join our_renewal r on r.identifier = e.request_id and r.processor = e.processor
    where e.kind = 'AUTHORIZATION' and e.answer = 'APPROVED' and r.state not in ('OK', 'KO')
      and (select reconciling_since is not null from installation)
  ),
  chain as materialized (select * from chained),
  replaced as (select distinct renewed as id, processor from chain where is_approved and not is_overtaken)
  select coalesce(u.change_here, case when e.kind = 'AUTHORIZATION' and e.authorization_request_id is not null
      then 'RENEWAL' else e.kind end) as kind, e.request_id, e.processor, e.answer, e.authorization_request_id,
    e.capture_request_id, e.account, e.terminal_id, e.token_id, e.operation_request_id, e.memo, e.amount, e.currency,
    e.captured, e.voided, e.incremented, e.refunded, coalesce(e.acted_at, now()) as acted_at,
    coalesce(nullif(e.merchant_id, ''), a.merchant_id, '') as merchant_id,
    coalesce(nullif(e.user_id, ''), a.user_id, '') as user_id,
    coalesce(nullif(e.merchant_reference, ''), a.merchant_reference, '') as merchant_reference,
    m.id is not null or u.change_here is not null as is_merchant_known, u.change_here is not null as is_here,
    u.subject_here, u.hold_here,
    u.taken_back::bigint as taken_back, coalesce(c.is_overtaken, false) as is_overtaken,
    coalesce(c.first, case e.kind when 'AUTHORIZATION' then e.request_id else e.authorization_request_id end,
      e.request_id) as chain,
    coalesce(c.generation, 0) + (r.id is not null)::int as generation,
    e.kind = 'VOID' and (r.id is not null or coalesce(c.is_overtaken, false)) as is_late,
    case when e.kind = 'VOID' and (r.id is not null or c.is_overtaken) then 1 else u.turn end as turn,
    -- The last capture of its authorization, of which nothing is left, gave the rest back itself unless a void did.
    coalesce(u.change_here is null and e.kind = 'CAPTURE' and a.ended_at is null and a.voided > 0 and a.captured + a.voided = a.amount + a.incremented
      and not exists (select from processor_entry v where v.authorization_request_id = e.authorization_request_id
        and v.processor = e.processor and v.kind = 'VOID' and (v.amount > 0 or v.answer = 'ACCEPTED'))
      and e.request_id = last_value(e.request_id) over (partition by e.processor, e.authorization_request_id, u.turn
        order by e.acted_at, e.request_id rows between unbounded preceding and unbounded following), false) as is_final
  from unknown u join processor_entry e on e.request_id = u.request_id and e.processor = u.processor
    left join processor_entry a on a.request_id = e.authorization_request_id and a.processor = e.processor
    left join merchant m on m.id = coalesce(nullif(e.merchant_id, ''), a.merchant_id)
    left join chain c on c.processor = e.processor
      and c.request_id = case e.kind when 'AUTHORIZATION' then e.request_id else e.authorization_request_id end
    left join replaced r on e.kind = 'VOID' and r.id = e.authorization_request_id and r.processor = e.processor;

-- Where a processor's books contradict themselves.
create temporary view doubt as
  with sums as (
    select processor, authorization_request_id as id, sum(amount) filter (where kind = 'CAPTURE') as captured,
      sum(amount) filter (where kind in ('VOID', 'DECREASE')) as voided,
      sum(amount - returned) filter (where kind = 'REFUND') as refunded,
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
  select * from (
    select id as request_id, processor, case
      when not is_placed then case when sum_captured + sum_voided > 0 and not exists (
          select from invalid_entry i where i.request_id = c.id::text and i.processor = c.processor)
        then 'was charged or given back, and was never placed' end
      when sum_captured > captured then 'was charged less than its captures'
      when sum_voided > voided then 'gave back less than its voids and decreases'
      when sum_incremented > incremented then 'was added less than its increments'
      when captured + voided > placed then 'was charged and gave back more than was placed'
      when sum_refunded > refunded then 'was refunded less than its refunds'
      when refunded > captured then 'refunded more of its captures than was charged'
      when reversed > captured then 'had more taken back than was charged' end as what
    from compared c) doubts
  where what is not null
  union all
  select e.request_id, e.processor, 'belongs to another merchant than its authorization' from processor_entry e
    join processor_entry a on a.request_id = e.authorization_request_id and a.processor = e.processor
  where e.merchant_id <> '' and e.merchant_id <> a.merchant_id
  union all
  select request_id, processor, 'stands there twice, as different operations' from processor_entry where contradicts;
