-- The schema after all migrations, for review. Written by npm run generate; npm run check compares it.

create table api_key (
  id uuid not null,
  merchant_id text not null,
  hash bytea not null,
  last4 text not null,
  manages_webhook boolean default false not null,
  created_at timestamp(3) with time zone not null,
  revoked_at timestamp(3) with time zone,
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_hash_unique UNIQUE (hash)
);

create table audit_entry (
  id uuid not null,
  at timestamp(3) with time zone not null,
  actor text not null,
  action text not null,
  target text not null,
  detail jsonb,
  constraint audit_entry_linked TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint audit_entry_pkey PRIMARY KEY (id)
);

create table audit_link (
  number bigint not null,
  entry_id uuid not null,
  content bytea not null,
  is_final boolean not null,
  hash bytea not null,
  constraint audit_link_pkey PRIMARY KEY (number)
);

create table claim (
  request_id uuid not null,
  merchant_id text not null,
  method text,
  fingerprint bytea,
  key text,
  created_at timestamp(3) with time zone not null,
  constraint claim_pkey PRIMARY KEY (request_id),
  constraint claim_call CHECK (((method IS NULL) = (fingerprint IS NULL))),
  constraint claim_key CHECK (((key IS NULL) OR (method IS NOT NULL)))
);

create table contradiction (
  id uuid not null,
  at timestamp(3) with time zone not null,
  merchant_id text,
  request_id uuid not null,
  hold_request_id uuid,
  name text not null,
  kind text not null,
  source text not null,
  processor text not null,
  event_id text,
  told text not null,
  kept text not null,
  told_amount bigint,
  kept_amount bigint,
  currency text,
  reference text,
  resolved_at timestamp(3) with time zone,
  resolved_by text,
  resolution text,
  constraint contradiction_pkey PRIMARY KEY (id),
  constraint contradiction_kind CHECK ((kind = ANY (ARRAY['RESULT'::text, 'AMOUNT'::text, 'AMOUNT_RELEASED'::text, 'AMOUNT_ENDED'::text, 'FOREIGN_CAPTURE'::text, 'EVENT_REFUSED'::text, 'EVENT_ID_REUSED'::text]))),
  constraint contradiction_resolved CHECK ((((resolved_at IS NULL) = (resolved_by IS NULL)) AND ((resolved_at IS NULL) = (resolution IS NULL)))),
  constraint contradiction_source CHECK ((source = ANY (ARRAY['ANSWER'::text, 'INQUIRY'::text, 'EVENT'::text])))
);

create table delivery (
  id uuid not null,
  merchant_id text not null,
  endpoint_kind text not null,
  request_id text not null,
  kind text not null,
  status_info text not null,
  body bytea,
  signature text,
  trace_parent text,
  state text not null,
  attempt_count integer not null,
  retry_base integer default 0 not null,
  due_at timestamp(3) with time zone,
  locked_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  delivered_at timestamp(3) with time zone,
  relayed_headers jsonb,
  constraint delivery_pkey PRIMARY KEY (id),
  constraint delivery_due CHECK (((state = 'PENDING'::text) = (due_at IS NOT NULL))),
  constraint delivery_endpoint_kind CHECK (((endpoint_kind = ANY (ARRAY['webhook'::text, 'internal'::text])) OR (endpoint_kind ~ '^(webhook|internal)-[0-9a-f-]{36}$'::text))) NOT VALID,
  constraint delivery_kind CHECK ((kind = ANY (ARRAY['payment'::text, 'oct'::text, 'relay'::text]))),
  constraint delivery_state CHECK ((state = ANY (ARRAY['PENDING'::text, 'DELIVERED'::text, 'DEAD'::text])))
) partition by RANGE (id);

create table delivery_attempt (
  delivery_id uuid not null,
  number integer not null,
  merchant_id text not null,
  started_at timestamp(3) with time zone not null,
  latency_ms integer not null,
  http_status integer,
  error text,
  fault text,
  url text,
  response_head text,
  constraint delivery_attempt_pkey PRIMARY KEY (delivery_id, number),
  constraint delivery_attempt_fault CHECK ((fault = ANY (ARRAY['LOOKUP'::text, 'UNREACHABLE'::text, 'TLS'::text, 'TIMEOUT'::text, 'PROTOCOL'::text])))
) partition by RANGE (delivery_id);

create table ended_session (
  session_hash bytea not null,
  expires_at timestamp(3) with time zone not null,
  change_number bigint not null,
  constraint ended_session_pkey PRIMARY KEY (session_hash)
);

create table endpoint (
  merchant_id text not null,
  kind text not null,
  pause text,
  paused_until timestamp(3) with time zone,
  failure_count integer not null,
  pause_count integer not null,
  changed_at timestamp(3) with time zone not null,
  refused_count integer default 0 not null,
  failing_since timestamp(3) with time zone,
  constraint endpoint_pkey PRIMARY KEY (merchant_id, kind),
  constraint endpoint_kind CHECK (((kind = ANY (ARRAY['webhook'::text, 'internal'::text])) OR (kind ~ '^(webhook|internal)-[0-9a-f-]{36}$'::text))) NOT VALID,
  constraint endpoint_pause CHECK ((pause = ANY (ARRAY['GONE'::text, 'OPERATOR'::text, 'BREAKER'::text]))),
  constraint endpoint_paused_until CHECK (((COALESCE(pause, ''::text) = 'BREAKER'::text) = (paused_until IS NOT NULL)))
);

create table endpoint_secret (
  id uuid not null,
  merchant_id text not null,
  endpoint_id text not null,
  hash bytea not null,
  ciphertext bytea not null,
  created_at timestamp(3) with time zone not null,
  retired_at timestamp(3) with time zone,
  constraint endpoint_secret_pkey PRIMARY KEY (id),
  constraint endpoint_secret_hash_unique UNIQUE (hash)
);

create table hold (
  request_id uuid not null,
  merchant_id text not null,
  amount bigint not null,
  currency text not null,
  processor text not null,
  processor_account text not null,
  processor_request_id uuid,
  created_at timestamp(3) with time zone not null,
  inquire_at timestamp(3) with time zone,
  inquiry_count integer not null,
  expected_by timestamp(3) with time zone,
  processor_reference text,
  processor_code text,
  processor_message text,
  amount_asked bigint not null,
  terminal_id text not null,
  user_id text not null,
  token_id text,
  status text not null,
  phase text not null,
  captured bigint not null,
  in_flight bigint not null,
  remaining bigint not null,
  released bigint not null,
  reversed bigint not null,
  refunded bigint default 0 not null,
  refunding bigint default 0 not null,
  release_reason text,
  closing boolean not null,
  changing text,
  frozen boolean not null,
  id_hash bytea not null,
  id_key text not null,
  allow_multiple_captures boolean not null,
  notify_holds boolean not null,
  hold_period_s integer not null,
  merchant_reference text,
  description text,
  customer_present boolean default false not null,
  expected_capture_at timestamp(3) with time zone,
  capture_at timestamp(3) with time zone,
  auto_capture_id uuid,
  auto_capture_count integer default 0 not null,
  release_at timestamp(3) with time zone,
  asked jsonb,
  renews uuid,
  releases_old boolean default false not null,
  notify_expiring_hours integer,
  notify_expiring_at timestamp(3) with time zone,
  metadata jsonb,
  return_url text,
  save_card boolean not null,
  checkout_url_ciphertext bytea,
  checkout_expires_at timestamp(3) with time zone,
  card_brand text,
  card_last4 text,
  card_expiry_month integer,
  card_expiry_year integer,
  card_funding text,
  card_three_d_secure text,
  card_decline_code text,
  generated_token_id text,
  capabilities jsonb,
  ended_as text,
  ended_amount bigint,
  ended_reference text,
  notification_count integer default 0 not null,
  placed_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  first_expires_at timestamp(3) with time zone,
  closed_at timestamp(3) with time zone,
  frozen_because text,
  renewed_by uuid,
  challenge boolean,
  guaranteed_until timestamp(3) with time zone,
  first_guaranteed_until timestamp(3) with time zone,
  merchant_reason text,
  sent_network_transaction_id text,
  network_transaction_id text,
  keep_until timestamp(3) with time zone,
  renew_at timestamp(3) with time zone,
  renewal_id uuid,
  authorization_id uuid,
  to_void uuid,
  constraint hold_pkey PRIMARY KEY (request_id),
  constraint hold_id_hash_unique UNIQUE (id_hash),
  constraint hold_rules CHECK (hold_rules(amount_asked, amount, captured, in_flight, remaining, released, reversed, refunded, refunding, ended_amount, status, phase, release_reason, ended_as, changing, frozen_because, placed_at, expires_at)) NOT VALID
) with (fillfactor=85);

create table imported (
  request_id uuid not null,
  what text not null,
  merchant_id text not null,
  imported_at timestamp(3) with time zone not null,
  constraint imported_pkey PRIMARY KEY (request_id, what)
);

create table installation (
  number integer not null,
  id uuid not null,
  timeline text not null,
  reconciling_since timestamp(3) with time zone,
  went_back_to timestamp(3) with time zone,
  results_from uuid default '00000000-0000-0000-0000-000000000000'::uuid not null,
  backed_up_at timestamp(3) with time zone,
  constraint installation_pkey PRIMARY KEY (number),
  constraint installation_is_one CHECK ((number = 1))
);

create table merchant (
  id text not null,
  name text not null,
  allow_multiple_captures boolean not null,
  hold_period_s integer not null,
  currencies text[] not null,
  terminals text[] not null,
  notify_holds boolean not null,
  require_signed_captures boolean not null,
  capture_public_key text,
  webhook_url text,
  internal_url text,
  processor text default ''::text not null,
  processor_account text default ''::text not null,
  notify_expiring_hours integer,
  created_at timestamp(3) with time zone not null,
  change_number bigint not null,
  allow_card_like_references boolean default false not null,
  relay_verification text default 'service-signature'::text not null,
  has_endpoints boolean default false not null,
  constraint merchant_pkey PRIMARY KEY (id),
  constraint merchant_hold_period CHECK (((hold_period_s >= 1) AND (hold_period_s <= 2592000))),
  constraint merchant_notify_expiring_hours CHECK (((notify_expiring_hours >= 1) AND (notify_expiring_hours <= 720))),
  constraint merchant_signed_captures_need_key CHECK (((NOT require_signed_captures) OR (capture_public_key IS NOT NULL)))
);

create table migration (
  id integer default nextval('migration_id_seq'::regclass) not null,
  name character varying(255) not null,
  executed_at timestamp(6) with time zone default CURRENT_TIMESTAMP(6) not null,
  hash text,
  step integer,
  constraint migration_pkey PRIMARY KEY (id)
);

create table minute_count (
  start timestamp(3) with time zone not null,
  merchant_id text not null,
  ok_count integer,
  ko_count integer,
  delivery_count integer,
  verified_count integer,
  refused_count integer,
  waiting_count integer,
  constraint minute_count_pkey PRIMARY KEY (start, merchant_id)
);

create table notification (
  merchant_id text not null,
  request_id text not null,
  kind text not null,
  status_info text not null,
  status text not null,
  amount text not null,
  currency text not null,
  body bytea,
  received_at timestamp(3) with time zone not null,
  parked_signature text,
  identifier text,
  digest text,
  relayed_headers jsonb,
  constraint notification_pkey PRIMARY KEY (merchant_id, request_id)
);

create table operation (
  request_id uuid not null,
  sequence bigint default nextval('operation_sequence_seq'::regclass) not null,
  kind text not null,
  status text not null,
  status_info text not null,
  merchant_id text not null,
  terminal_id text not null,
  user_id text not null,
  amount bigint not null,
  currency text not null,
  hold_request_id uuid,
  capture_request_id uuid,
  processor_reference text,
  bank_reference text,
  processor_code text,
  processor_message text,
  merchant_reference text,
  final_state_date timestamp(3) with time zone not null,
  hold_sequence integer,
  refund_request_id uuid,
  oct_request_id uuid,
  corrects_request_id uuid,
  metadata jsonb,
  reason text,
  status_after text,
  phase_after text,
  amount_after bigint,
  captured_after bigint,
  remaining_after bigint,
  released_after bigint,
  refunded_after bigint,
  reversed_after bigint,
  expires_at_after timestamp(3) with time zone,
  guaranteed_until_after timestamp(3) with time zone,
  body_form smallint,
  constraint operation_pkey PRIMARY KEY (request_id),
  constraint operation_kind CHECK ((kind = ANY (ARRAY['HOLD'::text, 'CAPTURE'::text, 'RELEASE'::text, 'EXPIRY'::text, 'REVERSAL'::text, 'REINSTATEMENT'::text, 'EXPIRING'::text, 'OCT'::text, 'INCREMENT'::text, 'EXTENSION'::text, 'REFUND'::text, 'REFUND_RETURN'::text, 'OCT_RETURN'::text, 'CORRECTION'::text, 'PARTIAL_RELEASE'::text, 'RENEWAL'::text]))) NOT VALID,
  constraint operation_status CHECK ((status = ANY (ARRAY['OK'::text, 'KO'::text])))
) partition by RANGE (request_id);

create table processor_event (
  id text not null,
  processor text not null,
  merchant_id text not null,
  received_at timestamp(3) with time zone not null,
  digest bytea not null,
  constraint processor_event_pkey PRIMARY KEY (id, processor)
);

create table processor_identity (
  processor text not null,
  name text not null,
  identity text not null,
  met_at timestamp(3) with time zone not null,
  constraint processor_identity_pkey PRIMARY KEY (processor)
);

create table quarantined_notification (
  id uuid not null,
  merchant_id text not null,
  request_id text not null,
  kind text not null,
  status_info text not null,
  status text not null,
  amount text not null,
  currency text not null,
  body bytea,
  signature text not null,
  reason text not null,
  state text not null,
  received_at timestamp(3) with time zone not null,
  decided_at timestamp(3) with time zone,
  delivery_id uuid,
  once_key text not null,
  identifier text,
  digest text,
  relayed_headers jsonb,
  constraint quarantined_notification_pkey PRIMARY KEY (id),
  constraint quarantined_notification_once_key_unique UNIQUE (once_key),
  constraint quarantined_notification_reason CHECK ((reason = ANY (ARRAY['CONFLICT'::text, 'STATUS_INFO_CONTRADICTED'::text]))),
  constraint quarantined_notification_state CHECK ((state = ANY (ARRAY['HELD'::text, 'RELEASED'::text, 'DISCARDED'::text])))
);

create table quota (
  merchant_id text not null,
  action text not null,
  window_start timestamp(3) with time zone not null,
  used integer not null,
  constraint quota_pkey PRIMARY KEY (merchant_id, action)
);

create table relay_key (
  id uuid not null,
  merchant_id text not null,
  sender_id uuid not null,
  ciphertext bytea,
  public_key text,
  created_at timestamp(3) with time zone not null,
  constraint relay_key_pkey PRIMARY KEY (id),
  constraint relay_key_secret_or_public CHECK (((ciphertext IS NULL) <> (public_key IS NULL)))
);

create table relay_sender (
  id uuid not null,
  merchant_id text not null,
  name text not null,
  scheme text not null,
  header text not null,
  encoding text not null,
  prefix text not null,
  timestamped boolean not null,
  id_header text not null,
  id_pointer text not null,
  type_header text not null,
  tolerance_seconds integer not null,
  internal_types text[] not null,
  created_at timestamp(3) with time zone not null,
  constraint relay_sender_pkey PRIMARY KEY (id),
  constraint relay_sender_scheme CHECK ((scheme = ANY (ARRAY['service-signature'::text, 'standard-webhooks'::text, 'hmac-sha256-body'::text, 'ed25519-body'::text])))
);

create table signature_nonce (
  merchant_id text not null,
  nonce text not null,
  expires_at timestamp(3) with time zone not null,
  constraint signature_nonce_pkey PRIMARY KEY (merchant_id, nonce)
);

create table signing_secret (
  id uuid not null,
  merchant_id text not null,
  hash bytea not null,
  ciphertext bytea not null,
  created_at timestamp(3) with time zone not null,
  retired_at timestamp(3) with time zone,
  constraint signing_secret_pkey PRIMARY KEY (id),
  constraint signing_secret_hash_unique UNIQUE (hash)
);

create table submission (
  request_id uuid not null,
  merchant_id text not null,
  amount bigint not null,
  currency text not null,
  processor text not null,
  processor_account text not null,
  processor_request_id uuid,
  created_at timestamp(3) with time zone not null,
  inquire_at timestamp(3) with time zone,
  inquiry_count integer not null,
  expected_by timestamp(3) with time zone,
  processor_reference text,
  processor_code text,
  processor_message text,
  kind text not null,
  state text not null,
  final_at timestamp(3) with time zone,
  bank_reference text,
  hold_request_id uuid,
  capture_request_id uuid,
  final_capture boolean,
  amount_reversed bigint,
  amount_refunded bigint,
  amount_refunding bigint,
  amount_released bigint,
  reported boolean default false not null,
  terminal_id text,
  user_id text,
  token_id text,
  merchant_reference text,
  card_brand text,
  card_last4 text,
  card_expiry_month integer,
  card_expiry_year integer,
  card_funding text,
  card_three_d_secure text,
  card_decline_code text,
  status_after text,
  amount_after bigint,
  captured_after bigint,
  remaining_after bigint,
  released_after bigint,
  reversed_after bigint,
  refunded_after bigint,
  frozen_after boolean,
  expires_at_after timestamp(3) with time zone,
  terms_after jsonb,
  amount_returned bigint default 0 not null,
  first_state text,
  metadata jsonb,
  reason text,
  guaranteed_until_after timestamp(3) with time zone,
  authorization_id uuid,
  constraint submission_pkey PRIMARY KEY (request_id),
  constraint submission_rules CHECK (submission_rules(kind, state, first_state, terminal_id, user_id, token_id, status_after, amount, amount_released, amount_reversed, amount_refunded, amount_refunding, amount_returned, final_capture, reported, hold_request_id, capture_request_id, final_at)) NOT VALID
);

create table verification_failure (
  id uuid not null,
  failed_at timestamp(3) with time zone not null,
  reason text not null,
  kind text not null,
  status_info text not null,
  claimed_merchant_id text not null,
  address text not null,
  body_bytes integer not null,
  body_sha256 bytea not null,
  signature_sha256prefix text not null,
  explain jsonb,
  constraint verification_failure_pkey PRIMARY KEY (id)
);

create table webhook_endpoint (
  merchant_id text not null,
  id text not null,
  url text not null,
  types text[],
  description text not null,
  headers_ciphertext bytea,
  timeout_s integer not null,
  created_at timestamp(3) with time zone not null,
  constraint webhook_endpoint_pkey PRIMARY KEY (merchant_id, id),
  constraint webhook_endpoint_id CHECK ((id ~ '^(webhook|internal)-[0-9a-f-]{36}$'::text)),
  constraint webhook_endpoint_timeout CHECK (((timeout_s >= 5) AND (timeout_s <= 30)))
);

CREATE INDEX api_key_merchant ON public.api_key USING btree (merchant_id);

CREATE INDEX audit_entry_by_actor ON public.audit_entry USING btree (actor, id);
CREATE INDEX audit_entry_by_target ON public.audit_entry USING btree (target, id);

CREATE UNIQUE INDEX claim_by_key ON public.claim USING btree (merchant_id, key) WHERE (key IS NOT NULL);
CREATE INDEX claim_key_age ON public.claim USING btree (created_at) WHERE (key IS NOT NULL);

CREATE INDEX contradiction_by_event ON public.contradiction USING btree (event_id, processor) WHERE ((event_id IS NOT NULL) AND (resolved_at IS NULL));
CREATE INDEX contradiction_by_hold ON public.contradiction USING btree (hold_request_id) WHERE (hold_request_id IS NOT NULL);
CREATE INDEX contradiction_by_request ON public.contradiction USING btree (request_id);
CREATE UNIQUE INDEX contradiction_open_unique ON public.contradiction USING btree (request_id, name) WHERE (resolved_at IS NULL);

CREATE INDEX delivery_by_merchant ON ONLY public.delivery USING btree (merchant_id, id);
CREATE INDEX delivery_by_request ON ONLY public.delivery USING btree (request_id);
CREATE INDEX delivery_dead ON ONLY public.delivery USING btree (id) WHERE (state = 'DEAD'::text);
CREATE INDEX delivery_dead_by_merchant ON ONLY public.delivery USING btree (merchant_id, created_at) WHERE ((due_at IS NULL) AND (state <> 'DELIVERED'::text));
CREATE INDEX delivery_due ON ONLY public.delivery USING btree (merchant_id, endpoint_kind, due_at, id) WHERE (due_at IS NOT NULL);

CREATE INDEX ended_session_change_number_index ON public.ended_session USING btree (change_number);

CREATE INDEX endpoint_secret_of ON public.endpoint_secret USING btree (merchant_id, endpoint_id);

CREATE INDEX hold_by_merchant ON public.hold USING btree (merchant_id, request_id);
CREATE UNIQUE INDEX hold_by_processor_request_id ON public.hold USING btree (processor_request_id, processor) WHERE (processor_request_id IS NOT NULL);
CREATE INDEX hold_by_reference ON public.hold USING btree (merchant_id, merchant_reference, request_id) WHERE (merchant_reference IS NOT NULL);
CREATE INDEX hold_by_user ON public.hold USING btree (merchant_id, user_id, request_id);
CREATE INDEX hold_checkout_to_inquire ON public.hold USING btree (inquire_at) WHERE ((inquire_at IS NOT NULL) AND (phase = 'AWAITING_CHECKOUT'::text));
CREATE INDEX hold_ended_by_age ON public.hold USING btree (created_at) WHERE ((ended_as IS NOT NULL) AND (status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])));
CREATE INDEX hold_expiring ON public.hold USING btree (notify_expiring_at) WHERE ((notify_expiring_at IS NOT NULL) AND (status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])) AND (phase = 'AUTHORIZED'::text));
CREATE INDEX hold_in_review ON public.hold USING btree (request_id) WHERE (frozen OR (phase = ANY (ARRAY['UNKNOWN'::text, 'NEEDS_REVIEW'::text])));
CREATE INDEX hold_network_transaction ON public.hold USING btree (merchant_id, COALESCE(token_id, generated_token_id), user_id, created_at) WHERE (customer_present AND (network_transaction_id IS NOT NULL));
CREATE INDEX hold_open_by_end ON public.hold USING btree (expires_at) WHERE ((status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])) AND (phase = 'AUTHORIZED'::text));
CREATE INDEX hold_open_by_release ON public.hold USING btree (release_at) WHERE ((release_at IS NOT NULL) AND (status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])) AND (phase = 'AUTHORIZED'::text));
CREATE INDEX hold_open_checkout ON public.hold USING btree (checkout_expires_at) WHERE (phase = 'AWAITING_CHECKOUT'::text);
CREATE INDEX hold_open_ended ON public.hold USING btree (request_id) WHERE ((ended_as IS NOT NULL) AND (status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])));
CREATE INDEX hold_releases_old ON public.hold USING btree (request_id) WHERE releases_old;
CREATE INDEX hold_releases_old_by_age ON public.hold USING btree (created_at) WHERE releases_old;
CREATE INDEX hold_to_capture ON public.hold USING btree (capture_at) WHERE ((capture_at IS NOT NULL) AND (auto_capture_id IS NULL) AND (status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])) AND (phase = 'AUTHORIZED'::text));
CREATE INDEX hold_to_inquire ON public.hold USING btree (inquire_at) WHERE (inquire_at IS NOT NULL);
CREATE INDEX hold_to_renew ON public.hold USING btree (renew_at) WHERE ((renew_at IS NOT NULL) AND (status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])) AND (phase = 'AUTHORIZED'::text));
CREATE INDEX hold_to_void ON public.hold USING btree (created_at) WHERE (to_void IS NOT NULL);
CREATE INDEX hold_token_age ON public.hold USING btree (created_at) WHERE (generated_token_id IS NOT NULL);
CREATE INDEX hold_turns_by_end ON public.hold USING btree (processor, merchant_id, expires_at) WHERE ((status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])) AND (phase = 'AUTHORIZED'::text));
CREATE INDEX hold_turns_by_release ON public.hold USING btree (processor, merchant_id, release_at) WHERE ((release_at IS NOT NULL) AND (status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])) AND (phase = 'AUTHORIZED'::text));
CREATE INDEX hold_turns_ended ON public.hold USING btree (processor, merchant_id, created_at) WHERE ((ended_as IS NOT NULL) AND (status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])));
CREATE INDEX hold_turns_expiring ON public.hold USING btree (processor, merchant_id, notify_expiring_at) WHERE ((notify_expiring_at IS NOT NULL) AND (status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])) AND (phase = 'AUTHORIZED'::text));
CREATE INDEX hold_turns_of_checkout ON public.hold USING btree (processor, merchant_id, inquire_at) WHERE ((inquire_at IS NOT NULL) AND (phase = 'AWAITING_CHECKOUT'::text));
CREATE INDEX hold_turns_releases_old ON public.hold USING btree (processor, merchant_id, created_at) WHERE releases_old;
CREATE INDEX hold_turns_to_capture ON public.hold USING btree (processor, merchant_id, capture_at) WHERE ((capture_at IS NOT NULL) AND (auto_capture_id IS NULL) AND (status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])) AND (phase = 'AUTHORIZED'::text));
CREATE INDEX hold_turns_to_inquire ON public.hold USING btree (processor, merchant_id, inquire_at) WHERE (inquire_at IS NOT NULL);
CREATE INDEX hold_turns_to_renew ON public.hold USING btree (processor, merchant_id, renew_at) WHERE ((renew_at IS NOT NULL) AND (status = ANY (ARRAY['IN_PROGRESS'::text, 'PARTIALLY_CAPTURED'::text])) AND (phase = 'AUTHORIZED'::text));
CREATE INDEX hold_turns_to_void ON public.hold USING btree (processor, merchant_id, created_at) WHERE (to_void IS NOT NULL);

CREATE INDEX merchant_change_number ON public.merchant USING btree (change_number);

CREATE INDEX notification_age ON public.notification USING btree (received_at) WHERE (body IS NOT NULL);
CREATE INDEX notification_by_merchant ON public.notification USING btree (merchant_id, received_at, request_id) WHERE (body IS NOT NULL);
CREATE INDEX notification_parked ON public.notification USING btree (merchant_id, received_at) WHERE (parked_signature IS NOT NULL);

CREATE INDEX operation_by_hold ON ONLY public.operation USING btree (hold_request_id, sequence) WHERE (hold_request_id IS NOT NULL);
CREATE INDEX operation_by_merchant ON ONLY public.operation USING btree (merchant_id, sequence);
CREATE INDEX operation_sequence ON ONLY public.operation USING btree (sequence);

CREATE INDEX quarantined_notification_by_delivery ON public.quarantined_notification USING btree (delivery_id) WHERE (delivery_id IS NOT NULL);
CREATE INDEX quarantined_notification_held ON public.quarantined_notification USING btree (id) WHERE (state = 'HELD'::text);
CREATE INDEX quarantined_notification_held_by_merchant ON public.quarantined_notification USING btree (merchant_id, id) WHERE (state = 'HELD'::text);

CREATE INDEX relay_key_by_sender ON public.relay_key USING btree (sender_id, id);

CREATE INDEX relay_sender_by_merchant ON public.relay_sender USING btree (merchant_id, id);

CREATE INDEX signature_nonce_end ON public.signature_nonce USING btree (expires_at);

CREATE INDEX signing_secret_merchant ON public.signing_secret USING btree (merchant_id);

CREATE INDEX submission_by_hold ON public.submission USING btree (hold_request_id) WHERE (hold_request_id IS NOT NULL);
CREATE UNIQUE INDEX submission_by_processor_request_id ON public.submission USING btree (processor_request_id, processor) WHERE (processor_request_id IS NOT NULL);
CREATE INDEX submission_in_review ON public.submission USING btree (request_id) WHERE (state = ANY (ARRAY['UNKNOWN'::text, 'NEEDS_REVIEW'::text]));
CREATE INDEX submission_to_inquire ON public.submission USING btree (inquire_at) WHERE (inquire_at IS NOT NULL);
CREATE INDEX submission_turns_to_inquire ON public.submission USING btree (processor, merchant_id, inquire_at) WHERE (inquire_at IS NOT NULL);

create sequence merchant_change as bigint start 1 increment 1 cache 1;

create sequence migration_id_seq as integer start 1 increment 1 cache 1;

create sequence operation_sequence_seq as bigint start 1 increment 1 cache 1;

CREATE OR REPLACE FUNCTION public.append_audit_link(entry audit_entry)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
        declare
          last audit_link;
          content bytea := audit_content(entry);
          is_final boolean := entry.detail->>'result' is distinct from 'STARTED';
        begin
          perform pg_advisory_xact_lock(7215004);
          select * into last from audit_link order by number desc limit 1;
          last.number := coalesce(last.number, 0) + 1;
          insert into audit_link (number, entry_id, content, is_final, hash) values (last.number, entry.id, content,
            is_final, audit_hash(coalesce(last.hash, ''), last.number, entry.id, content, is_final));
        end
      $function$
;

CREATE OR REPLACE FUNCTION public.hold_rules(amount_asked bigint, amount bigint, captured bigint, in_flight bigint, remaining bigint, released bigint, reversed bigint, refunded bigint, refunding bigint, ended_amount bigint, status text, phase text, release_reason text, ended_as text, changing text, frozen_because text, placed_at timestamp with time zone, expires_at timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
        declare rule text;
        begin
          if ((amount_asked >= 1 and amount >= amount_asked and amount <= 999999999999
    and (phase = 'AUTHORIZED' or amount = amount_asked))
            and (captured + in_flight + remaining + released = case phase when 'AUTHORIZED' then amount else 0 end)
            and (captured >= 0 and in_flight >= 0 and remaining >= 0 and released >= 0)
            and (reversed >= 0 and refunded >= 0 and refunding >= 0 and reversed <= captured
    and refunded + refunding <= captured)
            and (status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED', 'CAPTURED', 'RELEASED', 'EXPIRED', 'FAILED'))
            and (phase in ('AWAITING_CHECKOUT', 'AUTHORIZING', 'UNKNOWN', 'AUTHORIZED', 'FAILED', 'NEEDS_REVIEW'))
            and (release_reason in ('FINAL', 'RELEASED', 'EXPIRED'))
            and (ended_as in ('RELEASED', 'EXPIRED'))
            and ((ended_as is null) = (ended_amount is null) and ended_amount >= 0)
            and ((status = 'FAILED') = (phase = 'FAILED'))
            and (changing is null or (changing in ('INCREMENT', 'EXTENSION') and phase = 'AUTHORIZED'))
            and (phase <> 'AUTHORIZED' or (placed_at is not null and expires_at is not null))
            and (status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') or remaining = 0)
            and (frozen_because in ('UNKNOWN_CHARGE', 'RESULT_CONTRADICTED', 'AMOUNT_DIFFERS'))) is not false then
            return true;
          end if;
          rule := case when not (amount_asked >= 1 and amount >= amount_asked and amount <= 999999999999
    and (phase = 'AUTHORIZED' or amount = amount_asked)) then 'hold_amount'
            when not (captured + in_flight + remaining + released = case phase when 'AUTHORIZED' then amount else 0 end) then 'hold_books_balance'
            when not (captured >= 0 and in_flight >= 0 and remaining >= 0 and released >= 0) then 'hold_counters_not_negative'
            when not (reversed >= 0 and refunded >= 0 and refunding >= 0 and reversed <= captured
    and refunded + refunding <= captured) then 'hold_taken_back'
            when not (status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED', 'CAPTURED', 'RELEASED', 'EXPIRED', 'FAILED')) then 'hold_status'
            when not (phase in ('AWAITING_CHECKOUT', 'AUTHORIZING', 'UNKNOWN', 'AUTHORIZED', 'FAILED', 'NEEDS_REVIEW')) then 'hold_phase'
            when not (release_reason in ('FINAL', 'RELEASED', 'EXPIRED')) then 'hold_release_reason'
            when not (ended_as in ('RELEASED', 'EXPIRED')) then 'hold_ended_as'
            when not ((ended_as is null) = (ended_amount is null) and ended_amount >= 0) then 'hold_ended_amount'
            when not ((status = 'FAILED') = (phase = 'FAILED')) then 'hold_failed'
            when not (changing is null or (changing in ('INCREMENT', 'EXTENSION') and phase = 'AUTHORIZED')) then 'hold_changing'
            when not (phase <> 'AUTHORIZED' or (placed_at is not null and expires_at is not null)) then 'hold_placed_has_end'
            when not (status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') or remaining = 0) then 'hold_closed_keeps_nothing'
            when not (frozen_because in ('UNKNOWN_CHARGE', 'RESULT_CONTRADICTED', 'AMOUNT_DIFFERS')) then 'hold_frozen_because' end;
          raise check_violation using table = 'hold', constraint = rule,
            message = 'new row for relation "hold" violates rule "' || rule || '"';
        end $function$
;

CREATE OR REPLACE FUNCTION public.link_audit_entry()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
        begin
          perform append_audit_link(new);
          return null;
        end
      $function$
;

CREATE OR REPLACE FUNCTION public.submission_rules(kind text, state text, first_state text, terminal_id text, user_id text, token_id text, status_after text, amount bigint, amount_released bigint, amount_reversed bigint, amount_refunded bigint, amount_refunding bigint, amount_returned bigint, final_capture boolean, reported boolean, hold_request_id uuid, capture_request_id uuid, final_at timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
        declare rule text;
        begin
          if ((kind in ('RENEWAL', 'CAPTURE', 'RELEASE', 'EXPIRY', 'LATE_VOID', 'OCT', 'INCREMENT', 'EXTENSION', 'REFUND', 'PARTIAL_RELEASE'))
            and (state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO'))
            and (amount >= 0 and amount <= 999999999999
    and (amount >= 1 or kind in ('RELEASE', 'EXPIRY', 'LATE_VOID', 'EXTENSION')))
            and (amount_released is null
    or (amount_released >= 0 and kind in ('RELEASE', 'EXPIRY', 'LATE_VOID', 'CAPTURE', 'PARTIAL_RELEASE')))
            and ((kind = 'CAPTURE') = (final_capture is not null)
    and (kind = 'CAPTURE') = (amount_reversed is not null) and (kind = 'CAPTURE') = (amount_refunded is not null)
    and (kind = 'CAPTURE') = (amount_refunding is not null))
            and ((state in ('OK', 'KO')) = (final_at is not null))
            and (first_state is null or (first_state in ('OK', 'KO') and state in ('OK', 'KO')
    and kind in ('CAPTURE', 'INCREMENT', 'REFUND', 'OCT', 'PARTIAL_RELEASE')))
            and (kind <> 'OCT' or (terminal_id is not null and user_id is not null and token_id is not null))
            and ((kind = 'REFUND') = (capture_request_id is not null))
            and ((kind = 'OCT') = (hold_request_id is null))
            and (status_after is null or hold_request_id is not null)
            and (not reported or kind in ('RELEASE', 'EXPIRY'))
            and (amount_returned >= 0 and amount_returned <= amount
    and (amount_returned = 0 or kind in ('REFUND', 'OCT')))
            and (amount_reversed >= 0 and amount_refunded >= 0 and amount_refunding >= 0
    and amount_reversed <= amount and amount_refunded + amount_refunding <= amount)
            and (amount_reversed + amount_refunded + amount_refunding = 0 or state = 'OK')) is not false then
            return true;
          end if;
          rule := case when not (kind in ('RENEWAL', 'CAPTURE', 'RELEASE', 'EXPIRY', 'LATE_VOID', 'OCT', 'INCREMENT', 'EXTENSION', 'REFUND', 'PARTIAL_RELEASE')) then 'submission_kind'
            when not (state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO')) then 'submission_state'
            when not (amount >= 0 and amount <= 999999999999
    and (amount >= 1 or kind in ('RELEASE', 'EXPIRY', 'LATE_VOID', 'EXTENSION'))) then 'submission_amount'
            when not (amount_released is null
    or (amount_released >= 0 and kind in ('RELEASE', 'EXPIRY', 'LATE_VOID', 'CAPTURE', 'PARTIAL_RELEASE'))) then 'submission_amount_released'
            when not ((kind = 'CAPTURE') = (final_capture is not null)
    and (kind = 'CAPTURE') = (amount_reversed is not null) and (kind = 'CAPTURE') = (amount_refunded is not null)
    and (kind = 'CAPTURE') = (amount_refunding is not null)) then 'submission_capture'
            when not ((state in ('OK', 'KO')) = (final_at is not null)) then 'submission_final_has_date'
            when not (first_state is null or (first_state in ('OK', 'KO') and state in ('OK', 'KO')
    and kind in ('CAPTURE', 'INCREMENT', 'REFUND', 'OCT', 'PARTIAL_RELEASE'))) then 'submission_first_state'
            when not (kind <> 'OCT' or (terminal_id is not null and user_id is not null and token_id is not null)) then 'submission_oct'
            when not ((kind = 'REFUND') = (capture_request_id is not null)) then 'submission_of_capture'
            when not ((kind = 'OCT') = (hold_request_id is null)) then 'submission_of_hold'
            when not (status_after is null or hold_request_id is not null) then 'submission_after'
            when not (not reported or kind in ('RELEASE', 'EXPIRY')) then 'submission_reported'
            when not (amount_returned >= 0 and amount_returned <= amount
    and (amount_returned = 0 or kind in ('REFUND', 'OCT'))) then 'submission_returned'
            when not (amount_reversed >= 0 and amount_refunded >= 0 and amount_refunding >= 0
    and amount_reversed <= amount and amount_refunded + amount_refunding <= amount) then 'submission_taken_back'
            when not (amount_reversed + amount_refunded + amount_refunding = 0 or state = 'OK') then 'submission_taken_back_was_ok' end;
          raise check_violation using table = 'submission', constraint = rule,
            message = 'new row for relation "submission" violates rule "' || rule || '"';
        end $function$
;
