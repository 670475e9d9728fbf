-- The statements that every operation makes, in their order, for review: written by npm run generate.
-- In psql: prepare each as it stands, or explain (generic_plan) it.

-- insert-holds
with input as materialized (
    select i.*, sent.*, coalesce(i.deadline <= clock_timestamp(), false) as late, lost.below is not null and not coalesce(i.imported, false)
      and (i.key is not null or i."requestId" < lost.below) as maybe_lost
    from json_to_recordset($1::json) as i(place int, method text, fingerprint text, key text, "processorRequestId" uuid, imported boolean,
      deadline timestamptz, version text,
      "requestId" uuid, "merchantId" text, "amount" bigint, "currency" text, "processor" text, "processorAccount" text,
      "createdAt" timestamptz, "inquireAt" timestamptz, "terminalId" text, "userId" text, "tokenId" text,
      "phase" text, "idHash" bytea, "idKey" text, "allowMultipleCaptures" boolean, "notifyHolds" boolean,
      "notifyExpiringHours" int, "holdPeriodS" int, "merchantReference" text, "description" text,
      "customerPresent" boolean, "merchantReason" text, "sentNetworkTransactionId" text, "expectedCaptureAt" timestamptz,
      "captureAt" timestamptz, "releaseAt" timestamptz, "keepUntil" timestamptz, "renews" uuid, "metadata" jsonb,
      "returnUrl" text, "saveCard" boolean, "challenge" boolean, "checkoutExpiresAt" timestamptz)
    cross join (select (lpad(to_hex((extract(epoch from (select coalesce(reconciling_since,
    case when timeline <> left(pg_walfile_name(pg_current_wal_lsn()), 8) and current_setting('holdfast.synchronous_standby', true) is distinct from 'true'
      then clock_timestamp() end)
      from installation where number = any (array[1]))) * 1000)::bigint), 12, '0')
  || repeat('0', 20))::uuid as below) lost
    cross join lateral (
    select s.id as "sentAs", exists (select from hold k where k.processor_request_id = any (array[s.id])
        and (i."processorRequestId" is null or k.processor = i.processor)) as met
    from (select coalesce(i."processorRequestId", case when i.key is not null then (
        select n.id from (select generate_series(1, 5000) as use) u
          cross join lateral (select overlay(overlay(left(encode(sha256(convert_to(concat_ws('/',
    (select id from installation where number = any (array[1])), i."merchantId", i.method, u.use, i.key), 'UTF8')),
    'hex'), 32) placing '8' from 13) placing 'a' from 17)::uuid offset 0) n(id)
        where not coalesce((select bool_or(k.created_at < i."createdAt" - interval '7 days') from hold k
          where k.processor_request_id = any (array[n.id])), false)
        limit 1) end) as id) s
  ) sent
  ),
  admissible as materialized (select * from input where not late and not met and not maybe_lost),
  claimed as (
    insert into claim (request_id, merchant_id, method, fingerprint, key, created_at)
    select "requestId", "merchantId", method, decode(fingerprint, 'hex'), 'sha256:' || encode(sha256(convert_to("merchantId" || '/' || key, 'UTF8')), 'base64'), "createdAt"
    from admissible a
    where key is null or not exists (select from claim k
      where k.merchant_id = any (array[a."merchantId"]) and k.key = any (array[a.key]))
    order by 5, "requestId"
    on conflict do nothing
    returning request_id
  ),
  stored as (
    insert into hold (processor_request_id, amount_asked, releases_old, inquiry_count, status, captured, in_flight,
      remaining, released, reversed, closing, frozen,
      request_id, merchant_id, amount, currency, processor, processor_account, created_at, inquire_at,
      terminal_id, user_id, token_id, phase, id_hash, id_key, allow_multiple_captures, notify_holds,
      notify_expiring_hours, hold_period_s, merchant_reference, description, customer_present, merchant_reason,
      sent_network_transaction_id, expected_capture_at, capture_at, release_at, keep_until, renews,
      metadata, return_url, save_card, challenge, checkout_expires_at)
    select "sentAs", amount, renews is not null, 0, 'IN_PROGRESS', 0, 0, 0, 0, 0, false, false,
      "requestId", "merchantId", "amount", "currency", "processor", "processorAccount", "createdAt",
      "inquireAt", "terminalId", "userId", "tokenId", "phase", "idHash", "idKey", "allowMultipleCaptures",
      "notifyHolds", "notifyExpiringHours", "holdPeriodS", "merchantReference", "description", "customerPresent",
      "merchantReason", "sentNetworkTransactionId", "expectedCaptureAt", "captureAt", "releaseAt",
      "keepUntil", "renews", "metadata", "returnUrl", "saveCard", "challenge", "checkoutExpiresAt"
    from admissible where "requestId" in (select request_id from claimed)
    returning request_id as of_request, (hold.xmin::text || '@' || (select left(pg_walfile_name(pg_current_wal_lsn()), 8))) as version
  )
  select i.place, i."sentAs", v.version,
    case when i."requestId" in (select request_id from claimed) then 'STORED'
      when i.late then 'LATE'
      when i.maybe_lost and not i.met then 'MAYBE_LOST'
      when i.met or i."requestId" in (select "requestId" from admissible) then 'KEY_TAKEN'
      else 'AGAIN' end as outcome
  from input i left join stored v on v.of_request = i."requestId";

-- settle-holds
with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, ok boolean, at timestamptz, "processorReference" text, "processorCode" text,
      "processorMessage" text, card json, operation json,
      "expiresAt" timestamptz, "guaranteedUntil" timestamptz, "generatedTokenId" text,
      "networkTransactionId" text, capabilities jsonb, "storedVersion" text)
  ),
  locked as materialized (
    select i.*, (h.xmin::text || '@' || (select left(pg_walfile_name(pg_current_wal_lsn()), 8))) = i."storedVersion" as untouched from input i join hold h on h.request_id = any (array[i."requestId"])
    for no key update of h skip locked
  ),
  changed as (
    update hold h set inquire_at = null, processor_reference = c."processorReference",
      processor_code = c."processorCode", processor_message = c."processorMessage",
      phase = case when c.ok then 'AUTHORIZED' else 'FAILED' end,
      status = case when c.ok then 'IN_PROGRESS' else 'FAILED' end,
      remaining = case when c.ok then h.amount else 0 end,
      placed_at = case when c.ok then c.at end,
      closed_at = case when c.ok then null else c.at end,
      expires_at = c."expiresAt", guaranteed_until = c."guaranteedUntil",
      first_guaranteed_until = c."guaranteedUntil", renew_at = case when h.keep_until is not null and least(h.keep_until, h.capture_at, h.release_at) > coalesce(c."guaranteedUntil", c."expiresAt")
        then coalesce(c."guaranteedUntil", c."expiresAt") - least(interval '2 days', greatest(coalesce(c."guaranteedUntil", c."expiresAt") - c.at, interval '0') / 3) end, closing = h.closing and c.ok,
      card_brand = c.card->>'brand', card_last4 = c.card->>'last4',
      card_expiry_month = (c.card->>'expiryMonth')::int, card_expiry_year = (c.card->>'expiryYear')::int,
      card_funding = c.card->>'funding', card_three_d_secure = c.card->>'threeDSecure',
      card_decline_code = c.card->>'declineCode',
      generated_token_id = c."generatedTokenId", network_transaction_id = c."networkTransactionId",
      capabilities = c.capabilities,
      notification_count = h.notification_count + case when c.operation->'delivery' is null then 0 else 1 end,
      notify_expiring_at = least(c."guaranteedUntil", c."expiresAt", h.release_at) - make_interval(hours => h.notify_expiring_hours)
    from locked c
    where h.request_id = any (array[c."requestId"]) and h.phase not in ('AUTHORIZED', 'FAILED')
    returning h.request_id as subject_id, case when c.untouched then (h.xmin::text || '@' || (select left(pg_walfile_name(pg_current_wal_lsn()), 8))) end as version,
      h.renew_at, h.notify_expiring_at, h.notification_count, h.notification_count as "holdSequence", c.*
  ),
  result as materialized (
    select c."holdSequence", r.* from changed c cross join lateral json_to_record(c.operation) as r(delivery json,
      "requestId" uuid, "kind" text, "status" text, "statusInfo" text, "merchantId" text, "terminalId" text,
      "userId" text, "amount" bigint, "currency" text, "holdRequestId" uuid, "captureRequestId" uuid,
      "refundRequestId" uuid, "octRequestId" uuid, "correctsRequestId" uuid, "processorReference" text,
      "bankReference" text, "processorCode" text, "processorMessage" text, "merchantReference" text,
      "metadata" jsonb, "reason" text, "finalStateDate" timestamptz, "statusAfter" text, "phaseAfter" text,
      "amountAfter" bigint, "capturedAfter" bigint, "remainingAfter" bigint, "releasedAfter" bigint,
      "refundedAfter" bigint, "reversedAfter" bigint, "expiresAtAfter" timestamptz, "guaranteedUntilAfter" timestamptz,
      "bodyForm" smallint)
    where c.operation is not null
  ),
  ordered as materialized (
    select pg_advisory_xact_lock(7215001) from (select count(*) from result) counted
      where count > 0
  ),
  appended as (
    insert into operation (sequence, hold_sequence,
      request_id, kind, status, status_info, merchant_id, terminal_id, user_id, amount, currency,
      hold_request_id, capture_request_id, refund_request_id, oct_request_id, corrects_request_id,
      processor_reference, bank_reference, processor_code, processor_message, merchant_reference,
      metadata, reason, final_state_date, status_after, phase_after, amount_after, captured_after,
      remaining_after, released_after, refunded_after, reversed_after, expires_at_after, guaranteed_until_after,
      body_form)
    select nextval('operation_sequence_seq'), case when delivery is not null then "holdSequence" end,
      "requestId", "kind", "status", "statusInfo", "merchantId", "terminalId", "userId", "amount",
      "currency", "holdRequestId", "captureRequestId", "refundRequestId", "octRequestId", "correctsRequestId",
      "processorReference", "bankReference", "processorCode", "processorMessage", "merchantReference",
      "metadata", "reason", "finalStateDate", "statusAfter", "phaseAfter", "amountAfter", "capturedAfter",
      "remainingAfter", "releasedAfter", "refundedAfter", "reversedAfter", "expiresAtAfter", "guaranteedUntilAfter",
      "bodyForm"
    from ordered, result
    returning sequence, request_id
  ),
  delivered as (
    insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
      due_at, created_at, trace_parent)
    select endpoint.delivery_id, r."merchantId", endpoint.id, r."requestId"::text, d.kind, r."statusInfo",
      convert_to(concat(left(d.body, -1), ',"sequence":' || r."holdSequence", ',"position":' || a.sequence, '}'),
      'UTF8'), 'PENDING', 0, r."finalStateDate", r."finalStateDate", d."traceParent"
    from result r join appended a on a.request_id = r."requestId"
    cross join lateral json_to_record(r.delivery) as d(id uuid, kind text, body text, "traceParent" text)
    join merchant m on m.id = any (array[r."merchantId"])
    cross join lateral (
      select 'webhook' as id, d.id as delivery_id where m.webhook_url is not null
      union all
      select w.id, overlay(d.id::text placing right(gen_random_uuid()::text, 17) from 20)::uuid from webhook_endpoint w
      where m.has_endpoints and w.merchant_id = any (array[m.id]) and w.id like 'webhook-%'
        and (w.types is null or w.types && array[concat(d.kind, '.', r."statusInfo"), concat(d.kind, '.*')])
    ) endpoint
    where r.delivery is not null
    returning request_id, endpoint_kind
  )
  select 'changed' as what, subject_id::text as id, null as endpoint_id, version, renew_at, notify_expiring_at, notification_count from changed
  union all select 'delivery', request_id, endpoint_kind, null, null, null, null from delivered
  union all select 'locked', "requestId"::text, null, null, null, null, null from locked;

-- read-subjects
select i.place, (h.xmin::text || '@' || (select left(pg_walfile_name(pg_current_wal_lsn()), 8))) as version, h.*,
      exists (select from claim c where c.request_id = any (array[i."requestId"])) as is_known
    from json_to_recordset($1::json) as i(place int, "requestId" uuid, "idHash" bytea)
      left join hold h on h.id_hash = any (array[i."idHash"]);

-- store-submissions
with input as materialized (
    select i.*, sent.*, coalesce(i.deadline <= clock_timestamp(), false) as late, lost.below is not null and not coalesce(i.imported, false)
      and (i.key is not null or i."requestId" < lost.below
      or (i.method is null and i.kind <> 'LATE_VOID')
      or (i.kind = 'RELEASE' and 'AWAITING_CHECKOUT' = (
        select h.phase from hold h where h.request_id = any (array[i."holdRequestId"])))) as maybe_lost
    from json_to_recordset($1::json) as i(place int, method text, fingerprint text, key text, "processorRequestId" uuid, imported boolean,
      deadline timestamptz, version text, closing boolean, changing text, reserves text,
      "fromReleased" boolean, automatic boolean,
      "requestId" uuid, "merchantId" text, "amount" bigint, "currency" text, "processor" text, "processorAccount" text,
      "createdAt" timestamptz, "inquireAt" timestamptz, "kind" text, "holdRequestId" uuid, "authorizationId" uuid,
      "captureRequestId" uuid, "finalCapture" boolean, "reported" boolean, "amountReleased" bigint,
      "processorReference" text, "terminalId" text, "userId" text, "tokenId" text, "merchantReference" text,
      "metadata" jsonb, "reason" text)
    cross join (select (lpad(to_hex((extract(epoch from (select coalesce(reconciling_since,
    case when timeline <> left(pg_walfile_name(pg_current_wal_lsn()), 8) and current_setting('holdfast.synchronous_standby', true) is distinct from 'true'
      then clock_timestamp() end)
      from installation where number = any (array[1]))) * 1000)::bigint), 12, '0')
  || repeat('0', 20))::uuid as below) lost
    cross join lateral (
    select s.id as "sentAs", exists (select from submission k where k.processor_request_id = any (array[s.id])
        and (i."processorRequestId" is null or k.processor = i.processor)) as met
    from (select coalesce(i."processorRequestId", case when i.key is not null then (
        select n.id from (select generate_series(1, 5000) as use) u
          cross join lateral (select overlay(overlay(left(encode(sha256(convert_to(concat_ws('/',
    (select id from installation where number = any (array[1])), i."merchantId", i.method, u.use, i.key), 'UTF8')),
    'hex'), 32) placing '8' from 13) placing 'a' from 17)::uuid offset 0) n(id)
        where not coalesce((select bool_or(k.created_at < i."createdAt" - interval '7 days') from submission k
          where k.processor_request_id = any (array[n.id])), false)
        limit 1) end) as id) s
  ) sent
  ),
  locked as materialized (
    select i.* from input i join hold h on h.request_id = any (array[i."holdRequestId"])
    where (h.xmin::text || '@' || (select left(pg_walfile_name(pg_current_wal_lsn()), 8))) = i.version and not i.late and not i.met and not i.maybe_lost
    for no key update of h skip locked
  ),
  eligible as materialized (
    select * from locked union all select * from input where "holdRequestId" is null and not late and not met
      and not maybe_lost
  ),
  termed as materialized (
    select e."requestId", e."merchantId", e.kind, e.currency, e.amount, (e."createdAt" at time zone 'UTC')::date as day,
      coalesce(e.imported, false) as imported, m.allow_oct, l."perOperation", l."perDay",
      row_number() over (partition by e."merchantId", coalesce(e.key, e."requestId"::text) order by e."requestId") as turn,
      exists (select from claim c where c.request_id = any (array[e."requestId"]))
        or e.key is not null and exists (select from claim c where c.merchant_id = any (array[e."merchantId"])
          and c.key = any (array['sha256:' || encode(sha256(convert_to(e."merchantId" || '/' || e.key, 'UTF8')), 'base64')])) as claimed
    from eligible e join merchant m on m.id = any (array[e."merchantId"])
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
      select s.merchant_id, s.operation, s.currency, s.day, s.part from days d join spent s on s.merchant_id = d."merchantId"
        and s.operation = d.kind and s.currency = d.currency and s.day = d.day
      where s.part <> '00000000-0000-0000-0000-000000000000'::uuid for update of s skip locked)
    returning merchant_id, operation, currency, day, amount
  ),
  opened as materialized (
    select d.*, coalesce((select sum(r.amount) from returned r where r.merchant_id = d."merchantId"
        and r.operation = d.kind and r.currency = d.currency and r.day = d.day), 0)::bigint as back from days d
  ),
  spending as (
    insert into spent as s (merchant_id, operation, currency, day, part, amount, taken)
    select o."merchantId", o.kind, o.currency, o.day, '00000000-0000-0000-0000-000000000000'::uuid, o.back + t.taken, t.taken
    from opened o cross join lateral (select coalesce((select max(c.running) from counted c
        where c."merchantId" = o."merchantId" and c.kind = o.kind and c.currency = o.currency
          and c.day = o.day and (c.imported or o.back + c.running <= c."perDay")), 0) as taken) t
    order by 1, 2, 3, 4
    on conflict (merchant_id, operation, currency, day, part) do update set (amount, taken) = (
      select s.amount + o.back + t.taken, t.taken
      from opened o cross join lateral (select coalesce((select max(c.running) from counted c
        where c."merchantId" = o."merchantId" and c.kind = o.kind and c.currency = o.currency
          and c.day = o.day and (c.imported or (s.amount + o.back) + c.running <= c."perDay")), 0) as taken) t
      where excluded.merchant_id = o."merchantId"
        and excluded.operation = o.kind and excluded.currency = o.currency and excluded.day = o.day)
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
    from counted c join spending s on s.merchant_id = c."merchantId"
        and s.operation = c.kind and s.currency = c.currency and s.day = c.day
    where not c.imported and c.running > s.taken
    union all
    select t."requestId", 'AGAIN', null, null from termed t where t.turn > 1
  ),
  admissible as materialized (
    select e.*, (select c.day from counted c where c."requestId" = e."requestId") as "countedOn"
    from eligible e where e."requestId" not in (select "requestId" from forbidden)
  ),
  claimed as (
    insert into claim (request_id, merchant_id, method, fingerprint, key, created_at)
    select "requestId", "merchantId", method, decode(fingerprint, 'hex'), 'sha256:' || encode(sha256(convert_to("merchantId" || '/' || key, 'UTF8')), 'base64'), "createdAt"
    from admissible a
    where key is null or not exists (select from claim k
      where k.merchant_id = any (array[a."merchantId"]) and k.key = any (array[a.key]))
    order by 5, "requestId"
    on conflict do nothing
    returning request_id
  ),
  reserved as (
    update hold h set closing = i.closing,
      changing = coalesce(i.changing, h.changing),
      remaining = h.remaining - case when i."fromReleased" then 0 else r.of_hold end,
      released = h.released - case when i."fromReleased" then r.of_hold else 0 end,
      in_flight = h.in_flight + r.of_hold,
      refunding = h.refunding + r.of_captured,
      auto_capture_id = case when i.automatic then i."requestId" else h.auto_capture_id end,
      auto_capture_count = h.auto_capture_count + coalesce(i.automatic, false)::int,
      renewal_id = case when i.kind = 'RENEWAL' then i."requestId" else h.renewal_id end,
      to_void = case when i.kind = 'LATE_VOID' then nullif(h.to_void, coalesce(i."authorizationId", h.request_id))
        else h.to_void end
    from admissible i cross join lateral (select case when i.reserves = 'REMAINING' then i.amount else 0 end as of_hold,
      case when i.reserves = 'CAPTURED' then i.amount else 0 end as of_captured) r
    where h.request_id = any (array[i."holdRequestId"]) and i."requestId" in (select request_id from claimed)
    returning i."requestId" as of_request, (h.xmin::text || '@' || (select left(pg_walfile_name(pg_current_wal_lsn()),
      8))) as version, h.closing, h.changing, h.remaining, h.released, h.in_flight, h.refunding, h.auto_capture_id,
      h.auto_capture_count, h.renewal_id, h.to_void
  ),
  refunding as (
    update submission s set amount_refunding = s.amount_refunding + i.amount
    from admissible i
    where s.request_id = any (array[i."captureRequestId"]) and i."requestId" in (select request_id from claimed)
  ),
  stored as (
    insert into submission (processor_request_id, inquiry_count, state, amount_reversed, amount_refunded,
      amount_refunding, counted_on,
      request_id, merchant_id, amount, currency, processor, processor_account, created_at, inquire_at,
      kind, hold_request_id, authorization_id, capture_request_id, final_capture, reported, amount_released,
      processor_reference, terminal_id, user_id, token_id, merchant_reference, metadata, reason)
    select "sentAs", 0, 'PENDING', case when kind = 'CAPTURE' then 0 end, case when kind = 'CAPTURE' then 0 end,
      case when kind = 'CAPTURE' then 0 end, "countedOn",
      "requestId", "merchantId", "amount", "currency", "processor", "processorAccount", "createdAt",
      "inquireAt", "kind", "holdRequestId", "authorizationId", "captureRequestId", "finalCapture",
      "reported", "amountReleased", "processorReference", "terminalId", "userId", "tokenId", "merchantReference",
      "metadata", "reason"
    from admissible where "requestId" in (select request_id from claimed)
  )
  select i.place, i."sentAs", v.version, v.closing, v.changing, v.remaining, v.released, v.in_flight, v.refunding, v.auto_capture_id,
      v.auto_capture_count, v.renewal_id, v.to_void, f."limit", (f.day + 1)::timestamp at time zone 'UTC' as "resetsAt",
    case when exists (select from termed t left join counted c on c."requestId" = t."requestId"
        where t."requestId" = i."requestId" and t."perDay" is not null
          and t."requestId" not in (select "requestId" from forbidden)
          and (c."requestId" is not null) <> (t."requestId" in (select request_id from claimed)))
      and ('not counted: ' || i."requestId")::int is null then null else coalesce(f.outcome, case when i."requestId" in (select request_id from claimed) then 'STORED'
      when i.late then 'LATE'
      when i.maybe_lost and not i.met then 'MAYBE_LOST'
      when i.met or i."requestId" in (select "requestId" from admissible) then 'KEY_TAKEN'
      else 'AGAIN' end) end as outcome
  from input i left join reserved v on v.of_request = i."requestId" left join forbidden f on f."requestId" = i."requestId";

-- read-holds-of-open-submissions
select s.request_id as submission,
      (h.xmin::text || '@' || (select left(pg_walfile_name(pg_current_wal_lsn()), 8))) as version, h.*
    from submission s join hold h on h.request_id = any (array[s.hold_request_id])
    where s.request_id = any($1::uuid[]) and s.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW');

-- settle-submissions
with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, ok boolean, at timestamptz, "processorReference" text, "processorCode" text,
      "processorMessage" text, card json, operation json,
      "holdRequestId" uuid, version text, status text, amount bigint, captured bigint,
      "inFlight" bigint, remaining bigint, released bigint, reversed bigint, refunded bigint, refunding bigint,
      "releaseReason" text, closing boolean, changing text,
      "bankReference" text, "amountReleased" bigint, contradiction json, "endedAs" text, "endedAmount" bigint, again boolean, "expiresAt" timestamptz,
      "guaranteedUntil" timestamptz, capabilities jsonb, "failCode" text, "failMessage" text, "captureRequestId" uuid, "amountRefunded" bigint,
      "amountReserved" bigint, "renewAt" timestamptz, "authorizationId" uuid, "toVoid" uuid)
  ),
  on_hold as materialized (
    select i.*, h.frozen as "wasFrozen", h.notification_count + 1 as "holdSequence",
      coalesce(i."expiresAt", h.expires_at) as "expiresAfter",
      case when i."authorizationId" is null then coalesce(i."guaranteedUntil", h.guaranteed_until)
        else i."guaranteedUntil" end as "guaranteedAfter"
    from input i join hold h on h.request_id = any (array[i."holdRequestId"])
    where (h.xmin::text || '@' || (select left(pg_walfile_name(pg_current_wal_lsn()), 8))) = i.version for no key update of h skip locked
  ),
  on_itself as materialized (
    select i.*, false as "wasFrozen", null::int as "holdSequence", null::timestamptz as "expiresAfter",
      null::timestamptz as "guaranteedAfter"
    from input i join submission s on s.request_id = any (array[i."requestId"])
    where i."holdRequestId" is null for no key update of s skip locked
  ),
  locked as materialized (select * from on_hold union all select * from on_itself),
  changed as (
    update submission s set state = case when i.ok then 'OK' else 'KO' end, final_at = i.at, inquire_at = null,
      processor_reference = i."processorReference", bank_reference = i."bankReference",
      processor_code = i."processorCode", processor_message = i."processorMessage",
      amount_released = i."amountReleased", card_brand = i.card->>'brand', card_last4 = i.card->>'last4',
      card_expiry_month = (i.card->>'expiryMonth')::int, card_expiry_year = (i.card->>'expiryYear')::int,
      card_funding = i.card->>'funding', card_three_d_secure = i.card->>'threeDSecure',
      card_decline_code = i.card->>'declineCode',
      status_after = i.status, amount_after = i.amount, expires_at_after = i."expiresAfter",
      guaranteed_until_after = i."guaranteedAfter",
      captured_after = i.captured, remaining_after = i.remaining, released_after = i.released,
      reversed_after = i.reversed, refunded_after = i.refunded,
      frozen_after = case when i.status is not null then i."wasFrozen" or i.contradiction is not null end
    from locked i
    where s.request_id = any (array[i."requestId"]) and s.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')
    returning s.request_id as subject_id, i.*
  ),
  booked as (
    update hold h set status = c.status, amount = c.amount, captured = c.captured, in_flight = c."inFlight",
      remaining = c.remaining,
      released = c.released, reversed = c.reversed, refunded = c.refunded, refunding = c.refunding,
      release_reason = c."releaseReason", closing = c.closing, changing = c.changing,
      notification_count = h.notification_count + case when c.operation->'delivery' is null then 0 else 1 end,
      closed_at = case when c.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') then null
        else coalesce(h.closed_at, c.at) end,
      frozen = h.frozen or c.contradiction is not null, frozen_because = case when h.frozen_because = 'UNKNOWN_CHARGE' or (c.contradiction->>'freezes') is null then h.frozen_because else (c.contradiction->>'freezes') end,
      ended_as = coalesce(c."endedAs", h.ended_as), ended_amount = coalesce(c."endedAmount", h.ended_amount),
      capabilities = coalesce(c.capabilities, h.capabilities),
      expires_at = c."expiresAfter", guaranteed_until = c."guaranteedAfter",
      notify_expiring_at = case
        when (c."expiresAfter", c."guaranteedAfter") is distinct from (h.expires_at, h.guaranteed_until) then least(c."guaranteedAfter", c."expiresAfter", h.release_at) - make_interval(hours => h.notify_expiring_hours)
        else h.notify_expiring_at end,
      first_expires_at = case when c."expiresAfter" <> h.expires_at then coalesce(h.first_expires_at, h.expires_at)
        else h.first_expires_at end,
      auto_capture_id = case when c.again then null else h.auto_capture_id end,
      renew_at = case when c."renewAt" is not null then nullif(c."renewAt", 'infinity')
        when c."authorizationId" is not null or (c."expiresAfter", c."guaranteedAfter") is distinct from (h.expires_at, h.guaranteed_until) then case when h.keep_until is not null and least(h.keep_until, h.capture_at, h.release_at) > coalesce(c."guaranteedAfter", c."expiresAfter")
        then coalesce(c."guaranteedAfter", c."expiresAfter") - least(interval '2 days', greatest(coalesce(c."guaranteedAfter", c."expiresAfter") - c.at, interval '0') / 3) end
        else h.renew_at end,
      renewal_id = nullif(h.renewal_id, c.subject_id), authorization_id = coalesce(c."authorizationId", h.authorization_id),
      to_void = coalesce(c."toVoid", h.to_void),
      phase = case when c."failCode" is null then h.phase else 'FAILED' end,
      inquire_at = case when c."failCode" is null then h.inquire_at end,
      processor_code = coalesce(c."failCode", h.processor_code),
      processor_message = coalesce(c."failMessage", h.processor_message)
    from changed c
    where h.request_id = any (array[c."holdRequestId"])
  ),
  refunded as (
    update submission s set amount_refunded = s.amount_refunded + c."amountRefunded",
      amount_refunding = s.amount_refunding - c."amountReserved"
    from changed c where s.request_id = any (array[c."captureRequestId"])
  ),
  given_back as (
    insert into spent (merchant_id, operation, currency, day, part, amount)
    select s.merchant_id, s.kind, s.currency, s.counted_on, c.subject_id, -s.amount
    from changed c join submission s on s.request_id = any (array[c.subject_id])
    where not c.ok and s.counted_on is not null
    on conflict do nothing
  ),
  contradicted as (
    insert into contradiction (id, at, merchant_id, request_id,
      hold_request_id, name, kind, source, processor, event_id, told, kept, told_amount, kept_amount, currency, reference)
    select c.id, c.at, c."merchantId", c."requestId", c."holdRequestId", c.name, c.kind, c.source, c.processor,
      c."eventId", c.told, c.kept, c."toldAmount", c."keptAmount", c.currency, nullif(c.reference, '')
    from changed f cross join lateral json_to_record(f.contradiction) as c(id uuid, at timestamptz, "merchantId" text, "requestId" uuid, "holdRequestId" uuid, name text, kind text,
      source text, processor text, "eventId" text, told text, kept text, "toldAmount" bigint, "keptAmount" bigint,
      currency text, reference text, freezes text)
    where f.contradiction is not null
    on conflict (request_id, name) where resolved_at is null do nothing
  ),
  result as materialized (
    select c."holdSequence", r.* from changed c cross join lateral json_to_record(c.operation) as r(delivery json,
      "requestId" uuid, "kind" text, "status" text, "statusInfo" text, "merchantId" text, "terminalId" text,
      "userId" text, "amount" bigint, "currency" text, "holdRequestId" uuid, "captureRequestId" uuid,
      "refundRequestId" uuid, "octRequestId" uuid, "correctsRequestId" uuid, "processorReference" text,
      "bankReference" text, "processorCode" text, "processorMessage" text, "merchantReference" text,
      "metadata" jsonb, "reason" text, "finalStateDate" timestamptz, "statusAfter" text, "phaseAfter" text,
      "amountAfter" bigint, "capturedAfter" bigint, "remainingAfter" bigint, "releasedAfter" bigint,
      "refundedAfter" bigint, "reversedAfter" bigint, "expiresAtAfter" timestamptz, "guaranteedUntilAfter" timestamptz,
      "bodyForm" smallint)
    where c.operation is not null
  ),
  ordered as materialized (
    select pg_advisory_xact_lock(7215001) from (select count(*) from result) counted
      where count > 0
  ),
  appended as (
    insert into operation (sequence, hold_sequence,
      request_id, kind, status, status_info, merchant_id, terminal_id, user_id, amount, currency,
      hold_request_id, capture_request_id, refund_request_id, oct_request_id, corrects_request_id,
      processor_reference, bank_reference, processor_code, processor_message, merchant_reference,
      metadata, reason, final_state_date, status_after, phase_after, amount_after, captured_after,
      remaining_after, released_after, refunded_after, reversed_after, expires_at_after, guaranteed_until_after,
      body_form)
    select nextval('operation_sequence_seq'), case when delivery is not null then "holdSequence" end,
      "requestId", "kind", "status", "statusInfo", "merchantId", "terminalId", "userId", "amount",
      "currency", "holdRequestId", "captureRequestId", "refundRequestId", "octRequestId", "correctsRequestId",
      "processorReference", "bankReference", "processorCode", "processorMessage", "merchantReference",
      "metadata", "reason", "finalStateDate", "statusAfter", "phaseAfter", "amountAfter", "capturedAfter",
      "remainingAfter", "releasedAfter", "refundedAfter", "reversedAfter", "expiresAtAfter", "guaranteedUntilAfter",
      "bodyForm"
    from ordered, result
    returning sequence, request_id
  ),
  delivered as (
    insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
      due_at, created_at, trace_parent)
    select endpoint.delivery_id, r."merchantId", endpoint.id, r."requestId"::text, d.kind, r."statusInfo",
      convert_to(concat(left(d.body, -1), ',"sequence":' || r."holdSequence", ',"position":' || a.sequence, '}'),
      'UTF8'), 'PENDING', 0, r."finalStateDate", r."finalStateDate", d."traceParent"
    from result r join appended a on a.request_id = r."requestId"
    cross join lateral json_to_record(r.delivery) as d(id uuid, kind text, body text, "traceParent" text)
    join merchant m on m.id = any (array[r."merchantId"])
    cross join lateral (
      select 'webhook' as id, d.id as delivery_id where m.webhook_url is not null
      union all
      select w.id, overlay(d.id::text placing right(gen_random_uuid()::text, 17) from 20)::uuid from webhook_endpoint w
      where m.has_endpoints and w.merchant_id = any (array[m.id]) and w.id like 'webhook-%'
        and (w.types is null or w.types && array[concat(d.kind, '.', r."statusInfo"), concat(d.kind, '.*')])
    ) endpoint
    where r.delivery is not null
    returning request_id, endpoint_kind
  )
  select 'changed' as what, subject_id::text as id, null as endpoint_id from changed
  union all select 'delivery', request_id, endpoint_kind from delivered
  union all select 'locked', "requestId"::text, null from locked;

-- amend-ended
with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, "subjectRequestId" uuid, state text, "amountReversed" bigint,
      "amountReturned" bigint, "amountReleased" bigint, "stateBefore" text, "returnedBefore" bigint, "captureRequestId" uuid,
      "refundedMore" bigint, "correctedBy" text, at timestamptz, "eventId" text, "eventProcessor" text, digest text, "contradictionId" uuid, operation json,
      "holdRequestId" uuid, version text, status text, amount bigint, captured bigint,
      "inFlight" bigint, remaining bigint, released bigint, reversed bigint, refunded bigint, refunding bigint,
      "releaseReason" text, closing boolean, changing text)
  ),
  on_hold as materialized (
    select i.*, h.merchant_id, h.notification_count + 1 as "holdSequence" from input i
      join hold h on h.request_id = any (array[i."holdRequestId"])
    where (h.xmin::text || '@' || (select left(pg_walfile_name(pg_current_wal_lsn()), 8))) = i.version for no key update of h skip locked
  ),
  on_itself as materialized (
    select i.*, s.merchant_id, null::int as "holdSequence" from input i
      join submission s on s.request_id = any (array[i."subjectRequestId"])
    where i."holdRequestId" is null and s.state = i."stateBefore" and s.amount_returned = i."returnedBefore"
    for no key update of s skip locked
  ),
  locked as materialized (select * from on_hold union all select * from on_itself),
  remembered as (
    insert into processor_event (id, processor, merchant_id, received_at, digest)
    select "eventId", "eventProcessor", merchant_id, at, decode(digest, 'hex') from locked where "eventId" is not null
    on conflict (id, processor) do nothing returning id
  ),
  changed as materialized (
    select i."requestId" as subject_id, i.* from locked i
    where (i."eventId" is null or i."eventId" in (select id from remembered))
      and (i."contradictionId" is null
        or exists (select from contradiction o
          where o.id = any (array[i."contradictionId"]) and (o.resolved_at is null) is true))
  ),
  amended as (
    update submission s set state = coalesce(i.state, s.state),
      first_state = case when i.state is null then s.first_state else coalesce(s.first_state, s.state) end,
      amount_reversed = coalesce(i."amountReversed", s.amount_reversed),
      amount_returned = coalesce(i."amountReturned", s.amount_returned),
      amount_released = coalesce(i."amountReleased", s.amount_released)
    from changed i where s.request_id = any (array[i."subjectRequestId"])
  ),
  given_back as (
    insert into spent (merchant_id, operation, currency, day, part, amount)
    select s.merchant_id, s.kind, s.currency, s.counted_on, c."requestId",
      case when c.state = 'KO' then -s.amount else s.amount end
    from changed c join submission s on s.request_id = any (array[c."subjectRequestId"])
    where c.state <> s.state and s.counted_on is not null
    on conflict do nothing
  ),
  refunded as (
    update submission s set amount_refunded = s.amount_refunded + i."refundedMore"
    from changed i where s.request_id = any (array[i."captureRequestId"])
  ),
  booked as (
    update hold h set status = c.status, amount = c.amount, captured = c.captured, in_flight = c."inFlight",
      remaining = c.remaining,
      released = c.released, reversed = c.reversed, refunded = c.refunded, refunding = c.refunding,
      release_reason = c."releaseReason", closing = c.closing, changing = c.changing,
      notification_count = h.notification_count + case when c.operation->'delivery' is null then 0 else 1 end,
      closed_at = case when c.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') then null
        else coalesce(h.closed_at, c.at) end, frozen = h.frozen and c."correctedBy" is null,
      frozen_because = case when c."correctedBy" is null then h.frozen_because end
    from changed c where h.request_id = any (array[c."holdRequestId"])
  ),
  resolved as (
    update contradiction o set resolved_at = coalesce(o.resolved_at, c.at),
      resolved_by = coalesce(o.resolved_by, c."correctedBy"), resolution = coalesce(o.resolution, 'corrected')
    from changed c
      cross join lateral (
        select id from contradiction where hold_request_id = any (array[c."holdRequestId"])
        union select id from contradiction where request_id = any (array[c."subjectRequestId"])
      ) about
    where c."correctedBy" is not null and o.id = any (array[about.id])
      and not (c.state = 'OK' and o.resolved_at is null and (o.kind = 'RESULT' and o.told in ('REVERSED', 'REINSTATED', 'RETURNED'))
        and o.request_id = c."subjectRequestId")
  ),
  explained as (
    update contradiction o set resolved_at = c.at, resolved_by = 'core', resolution = 'booked after a correction'
    from changed c where o.id = any (array[c."contradictionId"])
  ),
  result as materialized (
    select c."holdSequence", r.* from changed c cross join lateral json_to_record(c.operation) as r(delivery json,
      "requestId" uuid, "kind" text, "status" text, "statusInfo" text, "merchantId" text, "terminalId" text,
      "userId" text, "amount" bigint, "currency" text, "holdRequestId" uuid, "captureRequestId" uuid,
      "refundRequestId" uuid, "octRequestId" uuid, "correctsRequestId" uuid, "processorReference" text,
      "bankReference" text, "processorCode" text, "processorMessage" text, "merchantReference" text,
      "metadata" jsonb, "reason" text, "finalStateDate" timestamptz, "statusAfter" text, "phaseAfter" text,
      "amountAfter" bigint, "capturedAfter" bigint, "remainingAfter" bigint, "releasedAfter" bigint,
      "refundedAfter" bigint, "reversedAfter" bigint, "expiresAtAfter" timestamptz, "guaranteedUntilAfter" timestamptz,
      "bodyForm" smallint)
    where c.operation is not null
  ),
  ordered as materialized (
    select pg_advisory_xact_lock(7215001) from (select count(*) from result) counted
      where count > 0
  ),
  appended as (
    insert into operation (sequence, hold_sequence,
      request_id, kind, status, status_info, merchant_id, terminal_id, user_id, amount, currency,
      hold_request_id, capture_request_id, refund_request_id, oct_request_id, corrects_request_id,
      processor_reference, bank_reference, processor_code, processor_message, merchant_reference,
      metadata, reason, final_state_date, status_after, phase_after, amount_after, captured_after,
      remaining_after, released_after, refunded_after, reversed_after, expires_at_after, guaranteed_until_after,
      body_form)
    select nextval('operation_sequence_seq'), case when delivery is not null then "holdSequence" end,
      "requestId", "kind", "status", "statusInfo", "merchantId", "terminalId", "userId", "amount",
      "currency", "holdRequestId", "captureRequestId", "refundRequestId", "octRequestId", "correctsRequestId",
      "processorReference", "bankReference", "processorCode", "processorMessage", "merchantReference",
      "metadata", "reason", "finalStateDate", "statusAfter", "phaseAfter", "amountAfter", "capturedAfter",
      "remainingAfter", "releasedAfter", "refundedAfter", "reversedAfter", "expiresAtAfter", "guaranteedUntilAfter",
      "bodyForm"
    from ordered, result
    returning sequence, request_id
  ),
  delivered as (
    insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
      due_at, created_at, trace_parent)
    select endpoint.delivery_id, r."merchantId", endpoint.id, r."requestId"::text, d.kind, r."statusInfo",
      convert_to(concat(left(d.body, -1), ',"sequence":' || r."holdSequence", ',"position":' || a.sequence, '}'),
      'UTF8'), 'PENDING', 0, r."finalStateDate", r."finalStateDate", d."traceParent"
    from result r join appended a on a.request_id = r."requestId"
    cross join lateral json_to_record(r.delivery) as d(id uuid, kind text, body text, "traceParent" text)
    join merchant m on m.id = any (array[r."merchantId"])
    cross join lateral (
      select 'webhook' as id, d.id as delivery_id where m.webhook_url is not null
      union all
      select w.id, overlay(d.id::text placing right(gen_random_uuid()::text, 17) from 20)::uuid from webhook_endpoint w
      where m.has_endpoints and w.merchant_id = any (array[m.id]) and w.id like 'webhook-%'
        and (w.types is null or w.types && array[concat(d.kind, '.', r."statusInfo"), concat(d.kind, '.*')])
    ) endpoint
    where r.delivery is not null
    returning request_id, endpoint_kind
  )
  select 'changed' as what, subject_id::text as id, null as endpoint_id from changed
  union all select 'delivery', request_id, endpoint_kind from delivered
  union all select 'locked', "requestId"::text, null from locked;
