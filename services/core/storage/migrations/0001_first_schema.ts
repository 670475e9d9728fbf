import { Migration } from '@mikro-orm/migrations';

/**
 * The schema as it is: merchants and their credentials, holds and submissions with what they claim, the log of results,
 * deliveries and notifications, and what must be remembered so that nothing happens twice. Changes are migrations of
 * their own, which the release before them survives.
 */
export class Migration0001_first_schema extends Migration {
  override up(): void {
    this.addSql(`
      create table "api_key" (
        "id" uuid not null,
        "merchant_id" text not null,
        "hash" bytea not null,
        "last4" text not null,
        "manages_webhook" boolean not null default false,
        "created_at" timestamptz(3) not null,
        "revoked_at" timestamptz(3) null,
        primary key ("id")
      );
      alter table "api_key" add constraint "api_key_hash_unique" unique ("hash");
      create index "api_key_merchant" on "api_key" ("merchant_id");

      create table "audit_entry" (
        "id" uuid not null,
        "at" timestamptz(3) not null,
        "actor" text not null,
        "action" text not null,
        "target" text not null,
        "detail" jsonb null,
        primary key ("id")
      );
      create index "audit_entry_by_target" on "audit_entry" ("target", "id");
      create index "audit_entry_by_actor" on "audit_entry" ("actor", "id");

      create table "claim" (
        "request_id" uuid not null,
        "merchant_id" text not null,
        "method" text null,
        "fingerprint" bytea null,
        "key" text null,
        "created_at" timestamptz(3) not null,
        primary key ("request_id")
      );
      create index "claim_key_age" on "claim" ("created_at") where key is not null;
      create unique index "claim_by_key" on "claim" ("merchant_id", "key") where key is not null;
      alter table "claim" add constraint "claim_call" check ((method is null) = (fingerprint is null));
      alter table "claim" add constraint "claim_key" check (key is null or method is not null);

      create table "delivery" (
        "id" uuid not null,
        "merchant_id" text not null,
        "endpoint_kind" text not null,
        "request_id" text not null,
        "kind" text not null,
        "status_info" text not null,
        "body" bytea null,
        "signature" text null,
        "trace_parent" text null,
        "state" text not null,
        "attempt_count" int not null,
        "retry_base" int not null default 0,
        "due_at" timestamptz(3) null,
        "locked_until" timestamptz(3) null,
        "created_at" timestamptz(3) not null,
        "delivered_at" timestamptz(3) null,
        primary key ("id")
      ) partition by range ("id");
      create table "delivery_default" partition of "delivery" default with (fillfactor = 50);
      create index "delivery_due" on "delivery" ("merchant_id", "endpoint_kind", "due_at", "id")
        where due_at is not null;
      create index "delivery_by_merchant" on "delivery" ("merchant_id", "id");
      create index "delivery_by_request" on "delivery" ("request_id");
      create index "delivery_dead" on "delivery" ("id") where state = 'DEAD';
      alter table "delivery" add constraint "delivery_endpoint_kind" check (endpoint_kind in ('webhook', 'internal'));
      alter table "delivery" add constraint "delivery_kind" check (kind in ('payment', 'oct'));
      alter table "delivery" add constraint "delivery_state" check (state in ('PENDING', 'DELIVERED', 'DEAD'));
      alter table "delivery" add constraint "delivery_due" check ((state = 'PENDING') = (due_at is not null));

      create table "delivery_attempt" (
        "delivery_id" uuid not null,
        "number" int not null,
        "merchant_id" text not null,
        "started_at" timestamptz(3) not null,
        "latency_ms" int not null,
        "http_status" int null,
        "error" text null,
        "fault" text null,
        "url" text null,
        "response_head" text null,
        primary key ("delivery_id", "number")
      ) partition by range ("delivery_id");
      create table "delivery_attempt_default" partition of "delivery_attempt" default;
      alter table "delivery_attempt" add constraint "delivery_attempt_fault"
        check (
          fault in ('LOOKUP', 'UNREACHABLE', 'TLS', 'TIMEOUT', 'PROTOCOL')
        );

      create table "ended_session" (
        "session_hash" bytea not null,
        "expires_at" timestamptz(3) not null,
        "change_number" bigint not null,
        primary key ("session_hash")
      );
      create index "ended_session_change_number_index" on "ended_session" ("change_number");

      create table "endpoint" (
        "merchant_id" text not null,
        "kind" text not null,
        "pause" text null,
        "paused_until" timestamptz(3) null,
        "failure_count" int not null,
        "pause_count" int not null,
        "changed_at" timestamptz(3) not null,
        primary key ("merchant_id", "kind")
      );
      alter table "endpoint" add constraint "endpoint_kind" check (kind in ('webhook', 'internal'));
      alter table "endpoint" add constraint "endpoint_pause" check (pause in ('GONE', 'OPERATOR', 'BREAKER'));
      alter table "endpoint" add constraint "endpoint_paused_until"
        check (
          (coalesce(pause, '') = 'BREAKER') = (paused_until is not null)
        );

      create table "hold" (
        "request_id" uuid not null,
        "merchant_id" text not null,
        "amount" bigint not null,
        "currency" text not null,
        "processor" text not null,
        "processor_account" text not null,
        "processor_request_id" uuid null,
        "created_at" timestamptz(3) not null,
        "inquire_at" timestamptz(3) null,
        "inquiry_count" int not null,
        "expected_by" timestamptz(3) null,
        "processor_reference" text null,
        "processor_code" text null,
        "processor_message" text null,
        "amount_asked" bigint not null,
        "terminal_id" text not null,
        "user_id" text not null,
        "token_id" text null,
        "status" text not null,
        "phase" text not null,
        "captured" bigint not null,
        "in_flight" bigint not null,
        "remaining" bigint not null,
        "released" bigint not null,
        "reversed" bigint not null,
        "refunded" bigint not null default 0,
        "refunding" bigint not null default 0,
        "release_reason" text null,
        "closing" boolean not null,
        "changing" text null,
        "frozen" boolean not null,
        "id_hash" bytea not null,
        "id_key" text not null,
        "allow_multiple_captures" boolean not null,
        "notify_holds" boolean not null,
        "hold_period_s" int not null,
        "merchant_reference" text null,
        "description" text null,
        "customer_present" boolean not null default false,
        "expected_capture_at" timestamptz(3) null,
        "capture_at" timestamptz(3) null,
        "auto_capture_id" uuid null,
        "auto_capture_count" int not null default 0,
        "release_at" timestamptz(3) null,
        "asked" jsonb null,
        "renews" uuid null,
        "releases_old" boolean not null default false,
        "notify_expiring_hours" int null,
        "notify_expiring_at" timestamptz(3) null,
        "metadata" jsonb null,
        "return_url" text null,
        "save_card" boolean not null,
        "checkout_url_ciphertext" bytea null,
        "checkout_expires_at" timestamptz(3) null,
        "card_brand" text null,
        "card_last4" text null,
        "card_expiry_month" int null,
        "card_expiry_year" int null,
        "card_funding" text null,
        "card_three_d_secure" text null,
        "card_decline_code" text null,
        "generated_token_id" text null,
        "capabilities" jsonb null,
        "ended_as" text null,
        "ended_amount" bigint null,
        "ended_reference" text null,
        "notification_count" int not null default 0,
        "placed_at" timestamptz(3) null,
        "expires_at" timestamptz(3) null,
        "first_expires_at" timestamptz(3) null,
        "closed_at" timestamptz(3) null,
        primary key ("request_id")
      ) with (fillfactor = 85);
      alter table "hold" add constraint "hold_id_hash_unique" unique ("id_hash");
      create index "hold_by_merchant" on "hold" ("merchant_id", "request_id");
      create index "hold_by_user" on "hold" ("merchant_id", "user_id", "request_id");
      create index "hold_by_reference" on "hold" ("merchant_id", "merchant_reference", "request_id")
        where merchant_reference is not null;
      create index "hold_open_by_end" on "hold" ("expires_at")
        where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED';
      create index "hold_open_ended" on "hold" ("request_id")
        where ended_as is not null and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED');
      create index "hold_open_by_release" on "hold" ("release_at")
        where release_at is not null and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED';
      create index "hold_to_capture" on "hold" ("capture_at")
        where capture_at is not null and auto_capture_id is null and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')
          and phase = 'AUTHORIZED';
      create index "hold_expiring" on "hold" ("notify_expiring_at")
        where notify_expiring_at is not null and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')
          and phase = 'AUTHORIZED';
      create index "hold_releases_old" on "hold" ("request_id") where releases_old;
      create index "hold_open_checkout" on "hold" ("checkout_expires_at") where phase = 'AWAITING_CHECKOUT';
      create index "hold_token_age" on "hold" ("created_at") where generated_token_id is not null;
      create index "hold_to_inquire" on "hold" ("inquire_at") where inquire_at is not null;
      create index "hold_in_review" on "hold" ("request_id") where frozen or phase in ('UNKNOWN', 'NEEDS_REVIEW');
      create unique index "hold_by_processor_request_id" on "hold" ("processor_request_id", "processor")
        where processor_request_id is not null;
      alter table "hold" add constraint "hold_amount"
        check (
          amount_asked >= 1 and amount >= amount_asked and amount <= 999999999999
          and (phase = 'AUTHORIZED' or amount = amount_asked)
        );
      alter table "hold" add constraint "hold_books_balance"
        check (
          captured + in_flight + remaining + released = case phase when 'AUTHORIZED' then amount else 0 end
        );
      alter table "hold" add constraint "hold_counters_not_negative"
        check (
          captured >= 0 and in_flight >= 0 and remaining >= 0 and released >= 0
        );
      alter table "hold" add constraint "hold_taken_back"
        check (
          reversed >= 0 and refunded >= 0 and refunding >= 0 and reversed + refunded + refunding <= captured
        );
      alter table "hold" add constraint "hold_status"
        check (
          status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED', 'CAPTURED', 'RELEASED', 'EXPIRED', 'FAILED')
        );
      alter table "hold" add constraint "hold_phase"
        check (
          phase in ('AWAITING_CHECKOUT', 'AUTHORIZING', 'UNKNOWN', 'AUTHORIZED', 'FAILED', 'NEEDS_REVIEW')
        );
      alter table "hold" add constraint "hold_release_reason"
        check (
          release_reason in ('FINAL', 'RELEASED', 'EXPIRED')
        );
      alter table "hold" add constraint "hold_ended_as" check (ended_as in ('RELEASED', 'EXPIRED'));
      alter table "hold" add constraint "hold_ended_amount"
        check (
          (ended_as is null) = (ended_amount is null) and ended_amount >= 0
        );
      alter table "hold" add constraint "hold_failed" check ((status = 'FAILED') = (phase = 'FAILED'));
      alter table "hold" add constraint "hold_changing"
        check (
          changing is null or (changing in ('INCREMENT', 'EXTENSION') and phase = 'AUTHORIZED')
        );
      alter table "hold" add constraint "hold_placed_has_end"
        check (
          phase <> 'AUTHORIZED' or (placed_at is not null and expires_at is not null)
        );
      alter table "hold" add constraint "hold_closed_keeps_nothing"
        check (
          status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') or remaining = 0
        );

      create table "imported" (
        "request_id" uuid not null,
        "what" text not null,
        "merchant_id" text not null,
        "imported_at" timestamptz(3) not null,
        primary key ("request_id", "what")
      );

      create table "installation" (
        "number" int not null,
        "id" uuid not null,
        "timeline" text not null,
        "reconciling_since" timestamptz(3) null,
        "went_back_to" timestamptz(3) null,
        "results_from" uuid not null default '00000000-0000-0000-0000-000000000000',
        primary key ("number")
      );
      alter table "installation" add constraint "installation_is_one" check (number = 1);

      create table "merchant" (
        "id" text not null,
        "name" text not null,
        "allow_multiple_captures" boolean not null,
        "hold_period_s" int not null,
        "currencies" text[] not null,
        "terminals" text[] not null,
        "notify_holds" boolean not null,
        "require_signed_captures" boolean not null,
        "capture_public_key" text null,
        "webhook_url" text null,
        "internal_url" text null,
        "processor" text not null default '',
        "processor_account" text not null default '',
        "notify_expiring_hours" int null,
        "created_at" timestamptz(3) not null,
        "change_number" bigint not null,
        primary key ("id")
      );
      create index "merchant_change_number" on "merchant" ("change_number");
      alter table "merchant" add constraint "merchant_hold_period"
        check (
          hold_period_s >= 1 and hold_period_s <= 2592000
        );
      alter table "merchant" add constraint "merchant_notify_expiring_hours"
        check (
          notify_expiring_hours >= 1 and notify_expiring_hours <= 720
        );
      alter table "merchant" add constraint "merchant_signed_captures_need_key"
        check (
          not require_signed_captures or capture_public_key is not null
        );

      create table "notification" (
        "merchant_id" text not null,
        "request_id" text not null,
        "kind" text not null,
        "status_info" text not null,
        "status" text not null,
        "amount" text not null,
        "currency" text not null,
        "body" bytea null,
        "received_at" timestamptz(3) not null,
        "parked_signature" text null,
        primary key ("merchant_id", "request_id")
      );
      create index "notification_age" on "notification" ("received_at") where body is not null;
      create index "notification_parked" on "notification" ("merchant_id", "received_at")
        where parked_signature is not null;
      create index "notification_by_merchant" on "notification" ("merchant_id", "received_at", "request_id")
        where body is not null;

      create table "operation" (
        "request_id" uuid not null,
        "sequence" bigserial not null,
        "kind" text not null,
        "status" text not null,
        "status_info" text not null,
        "merchant_id" text not null,
        "terminal_id" text not null,
        "user_id" text not null,
        "amount" bigint not null,
        "currency" text not null,
        "hold_request_id" uuid null,
        "capture_request_id" uuid null,
        "processor_reference" text null,
        "bank_reference" text null,
        "processor_code" text null,
        "processor_message" text null,
        "merchant_reference" text null,
        "final_state_date" timestamptz(3) not null,
        "hold_sequence" int null,
        primary key ("request_id")
      ) partition by range ("request_id");
      create table "operation_default" partition of "operation" default;
      create index "operation_sequence" on "operation" ("sequence");
      create index "operation_by_merchant" on "operation" ("merchant_id", "sequence");
      create index "operation_by_hold" on "operation" ("hold_request_id", "sequence")
        where hold_request_id is not null;
      alter table "operation" add constraint "operation_status" check (status in ('OK', 'KO'));
      alter table "operation" add constraint "operation_kind"
        check (
          kind in ('HOLD', 'CAPTURE', 'RELEASE', 'EXPIRY', 'REVERSAL', 'REINSTATEMENT', 'EXPIRING', 'OCT', 'INCREMENT',
          'EXTENSION', 'REFUND')
        );

      create table "processor_event" (
        "id" text not null,
        "processor" text not null,
        "merchant_id" text not null,
        "received_at" timestamptz(3) not null,
        "digest" bytea not null,
        primary key ("id", "processor")
      );

      create table "processor_identity" (
        "processor" text not null,
        "name" text not null,
        "identity" text not null,
        "met_at" timestamptz(3) not null,
        primary key ("processor")
      );

      create table "quarantined_notification" (
        "id" uuid not null,
        "merchant_id" text not null,
        "request_id" text not null,
        "kind" text not null,
        "status_info" text not null,
        "status" text not null,
        "amount" text not null,
        "currency" text not null,
        "body" bytea null,
        "signature" text not null,
        "reason" text not null,
        "state" text not null,
        "received_at" timestamptz(3) not null,
        "decided_at" timestamptz(3) null,
        "delivery_id" uuid null,
        "once_key" text not null,
        primary key ("id")
      );
      alter table "quarantined_notification" add constraint "quarantined_notification_once_key_unique"
        unique ("once_key");
      create index "quarantined_notification_held" on "quarantined_notification" ("id") where state = 'HELD';
      create index "quarantined_notification_held_by_merchant" on "quarantined_notification" ("merchant_id", "id")
        where state = 'HELD';
      alter table "quarantined_notification" add constraint "quarantined_notification_reason"
        check (
          reason in ('CONFLICT', 'STATUS_INFO_CONTRADICTED')
        );
      alter table "quarantined_notification" add constraint "quarantined_notification_state"
        check (
          state in ('HELD', 'RELEASED', 'DISCARDED')
        );

      create table "quota" (
        "merchant_id" text not null,
        "action" text not null,
        "window_start" timestamptz(3) not null,
        "used" int not null,
        primary key ("merchant_id", "action")
      );

      create table "signature_nonce" (
        "merchant_id" text not null,
        "nonce" text not null,
        "expires_at" timestamptz(3) not null,
        primary key ("merchant_id", "nonce")
      );
      create index "signature_nonce_end" on "signature_nonce" ("expires_at");

      create table "signing_secret" (
        "id" uuid not null,
        "merchant_id" text not null,
        "hash" bytea not null,
        "ciphertext" bytea not null,
        "created_at" timestamptz(3) not null,
        "retired_at" timestamptz(3) null,
        primary key ("id")
      );
      alter table "signing_secret" add constraint "signing_secret_hash_unique" unique ("hash");
      create index "signing_secret_merchant" on "signing_secret" ("merchant_id");

      create table "submission" (
        "request_id" uuid not null,
        "merchant_id" text not null,
        "amount" bigint not null,
        "currency" text not null,
        "processor" text not null,
        "processor_account" text not null,
        "processor_request_id" uuid null,
        "created_at" timestamptz(3) not null,
        "inquire_at" timestamptz(3) null,
        "inquiry_count" int not null,
        "expected_by" timestamptz(3) null,
        "processor_reference" text null,
        "processor_code" text null,
        "processor_message" text null,
        "kind" text not null,
        "state" text not null,
        "final_at" timestamptz(3) null,
        "bank_reference" text null,
        "hold_request_id" uuid null,
        "capture_request_id" uuid null,
        "final_capture" boolean null,
        "amount_reversed" bigint null,
        "amount_refunded" bigint null,
        "amount_refunding" bigint null,
        "amount_released" bigint null,
        "reported" boolean not null default false,
        "terminal_id" text null,
        "user_id" text null,
        "token_id" text null,
        "merchant_reference" text null,
        "card_brand" text null,
        "card_last4" text null,
        "card_expiry_month" int null,
        "card_expiry_year" int null,
        "card_funding" text null,
        "card_three_d_secure" text null,
        "card_decline_code" text null,
        "status_after" text null,
        "amount_after" bigint null,
        "captured_after" bigint null,
        "remaining_after" bigint null,
        "released_after" bigint null,
        "reversed_after" bigint null,
        "refunded_after" bigint null,
        "frozen_after" boolean null,
        "expires_at_after" timestamptz(3) null,
        primary key ("request_id")
      );
      create index "submission_by_hold" on "submission" ("hold_request_id") where hold_request_id is not null;
      create index "submission_to_inquire" on "submission" ("inquire_at") where inquire_at is not null;
      create index "submission_in_review" on "submission" ("request_id") where state in ('UNKNOWN', 'NEEDS_REVIEW');
      create unique index "submission_by_processor_request_id" on "submission" ("processor_request_id", "processor")
        where processor_request_id is not null;
      alter table "submission" add constraint "submission_kind"
        check (
          kind in ('CAPTURE', 'RELEASE', 'EXPIRY', 'LATE_VOID', 'OCT', 'INCREMENT', 'EXTENSION', 'REFUND')
        );
      alter table "submission" add constraint "submission_state"
        check (
          state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO')
        );
      alter table "submission" add constraint "submission_amount"
        check (
          amount >= 0 and amount <= 999999999999 and (amount >= 1
          or kind in ('RELEASE', 'EXPIRY', 'LATE_VOID', 'EXTENSION'))
        );
      alter table "submission" add constraint "submission_final_has_date"
        check (
          (state in ('OK', 'KO')) = (final_at is not null)
        );
      alter table "submission" add constraint "submission_of_hold" check ((kind = 'OCT') = (hold_request_id is null));
      alter table "submission" add constraint "submission_of_capture"
        check (
          (kind = 'REFUND') = (capture_request_id is not null)
        );
      alter table "submission" add constraint "submission_capture"
        check (
          (kind = 'CAPTURE') = (final_capture is not null)
          and (kind = 'CAPTURE') = (amount_reversed is not null)
          and (kind = 'CAPTURE') = (amount_refunded is not null)
          and (kind = 'CAPTURE') = (amount_refunding is not null)
        );
      alter table "submission" add constraint "submission_taken_back"
        check (
          amount_reversed >= 0 and amount_refunded >= 0 and amount_refunding >= 0
          and amount_reversed + amount_refunded + amount_refunding <= amount
        );
      alter table "submission" add constraint "submission_taken_back_was_ok"
        check (
          amount_reversed + amount_refunded + amount_refunding = 0 or state = 'OK'
        );
      alter table "submission" add constraint "submission_amount_released"
        check (
          amount_released is null or (amount_released >= 0 and kind in ('RELEASE', 'EXPIRY', 'LATE_VOID'))
        );
      alter table "submission" add constraint "submission_reported"
        check (
          not reported or kind in ('RELEASE', 'EXPIRY')
        );
      alter table "submission" add constraint "submission_oct"
        check (
          kind <> 'OCT' or (terminal_id is not null and user_id is not null and token_id is not null)
        );
      alter table "submission" add constraint "submission_after"
        check (
          status_after is null or hold_request_id is not null
        );

      create table "verification_failure" (
        "id" uuid not null,
        "failed_at" timestamptz(3) not null,
        "reason" text not null,
        "kind" text not null,
        "status_info" text not null,
        "claimed_merchant_id" text not null,
        "address" text not null,
        "body_bytes" int not null,
        "body_sha256" bytea not null,
        "signature_sha256prefix" text not null,
        primary key ("id")
      );

      create sequence merchant_change;

      insert into "installation" ("number", "id", "timeline")
        values (1, gen_random_uuid(), left(pg_walfile_name(pg_current_wal_lsn()), 8));
    `);
  }
}
