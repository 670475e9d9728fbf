import { Migration } from '@mikro-orm/migrations';

/**
 * The first schema: merchants and their credentials, holds with their captures and releases, OCT, the log of results,
 * deliveries, and what must be remembered so that nothing happens twice.
 */
export class Migration0001_first_schema extends Migration {
  override up(): void {
    this.addSql(`
      create table "api_key" ("id" uuid not null, "merchant_id" text not null, "hash" bytea not null, "last4" text not null, "created_at" timestamptz(3) not null, "revoked_at" timestamptz(3) null, primary key ("id"));
      alter table "api_key" add constraint "api_key_hash_unique" unique ("hash");
      create index "api_key_merchant" on "api_key" ("merchant_id");

      create table "audit_entry" ("id" uuid not null, "at" timestamptz(3) not null, "actor" text not null, "action" text not null, "target" text not null, "detail" jsonb null, primary key ("id"));

      create table "capture" ("request_id" uuid not null, "hold_request_id" uuid not null, "merchant_id" text not null, "state" text not null, "amount" bigint not null, "currency" text not null, "final_capture" boolean not null, "capture_date" timestamptz(3) null, "bank_reference" text null, "processor_reference" text null, "processor_code" text null, "processor_message" text null, "remaining_after" bigint null, "released_after" bigint null, "status_after" text null, "reversed" boolean not null, "created_at" timestamptz(3) not null, "inquire_at" timestamptz(3) null, "inquiry_count" int not null, primary key ("request_id"));
      create index "capture_by_hold" on "capture" ("hold_request_id", "request_id");
      create index "capture_to_inquire" on "capture" ("inquire_at") where inquire_at is not null;
      alter table "capture" add constraint "capture_amount" check (amount between 1 and 999999999999);
      alter table "capture" add constraint "capture_state" check (state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO'));
      alter table "capture" add constraint "capture_ok_has_date" check ((state = 'OK') = (capture_date is not null));
      alter table "capture" add constraint "capture_reversed_was_ok" check (not reversed or state = 'OK');

      create table "delivery" ("id" uuid not null, "merchant_id" text not null, "endpoint_kind" text not null, "request_id" text not null, "kind" text not null, "status_info" text not null, "body" bytea null, "signature" text null, "state" text not null, "attempt_count" int not null, "due_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "delivered_at" timestamptz(3) null, primary key ("id"));
      create index "delivery_due_at" on "delivery" ("due_at") where due_at is not null;
      create index "delivery_by_merchant" on "delivery" ("merchant_id", "id");
      create index "delivery_by_request" on "delivery" ("request_id");
      alter table "delivery" add constraint "delivery_endpoint_kind" check (endpoint_kind in ('webhook', 'internal'));
      alter table "delivery" add constraint "delivery_kind" check (kind in ('payment', 'oct'));
      alter table "delivery" add constraint "delivery_state" check (state in ('PENDING', 'DELIVERED', 'DEAD'));
      alter table "delivery" add constraint "delivery_due" check ((state = 'PENDING') = (due_at is not null));

      create table "delivery_attempt" ("delivery_id" uuid not null, "number" int not null, "started_at" timestamptz(3) not null, "latency_ms" int not null, "http_status" int null, "error" text null, "response_head" text null, primary key ("delivery_id", "number"));

      create table "hold" ("request_id" uuid not null, "merchant_id" text not null, "terminal_id" text not null, "user_id" text not null, "token_id" text null, "status" text not null, "phase" text not null, "amount" bigint not null, "currency" text not null, "captured" bigint not null, "in_flight" bigint not null, "remaining" bigint not null, "released" bigint not null, "reversed" bigint not null, "release_reason" text null, "closing" boolean not null, "frozen" boolean not null, "id_hash" bytea not null, "id_ciphertext" bytea not null, "allow_multiple_captures" boolean not null, "notify_holds" boolean not null, "hold_period_s" int not null, "merchant_reference" text null, "metadata" jsonb null, "return_url" text null, "save_card" boolean not null, "checkout_url_ciphertext" bytea null, "checkout_expires_at" timestamptz(3) null, "card_brand" text null, "card_last4" text null, "card_expiry_month" int null, "card_expiry_year" int null, "generated_token_id" text null, "processor_reference" text null, "processor_code" text null, "processor_message" text null, "created_at" timestamptz(3) not null, "placed_at" timestamptz(3) null, "expires_at" timestamptz(3) null, "closed_at" timestamptz(3) null, "inquire_at" timestamptz(3) null, "inquiry_count" int not null, primary key ("request_id"));
      alter table "hold" add constraint "hold_id_hash_unique" unique ("id_hash");
      create index "hold_by_merchant" on "hold" ("merchant_id", "request_id");
      create index "hold_open_by_end" on "hold" ("expires_at") where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED';
      create index "hold_open_checkout" on "hold" ("checkout_expires_at") where phase = 'AWAITING_CHECKOUT';
      create index "hold_to_inquire" on "hold" ("inquire_at") where inquire_at is not null;
      alter table "hold" add constraint "hold_amount" check (amount between 1 and 999999999999);
      alter table "hold" add constraint "hold_books_balance" check (amount = captured + in_flight + remaining + released);
      alter table "hold" add constraint "hold_counters_not_negative" check (captured >= 0 and in_flight >= 0 and remaining >= 0 and released >= 0);
      alter table "hold" add constraint "hold_reversed" check (reversed >= 0 and reversed <= captured);
      alter table "hold" add constraint "hold_status" check (status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED', 'CAPTURED', 'RELEASED', 'EXPIRED', 'FAILED'));
      alter table "hold" add constraint "hold_phase" check (phase in ('AWAITING_CHECKOUT', 'AUTHORIZING', 'UNKNOWN', 'AUTHORIZED', 'FAILED', 'NEEDS_REVIEW'));
      alter table "hold" add constraint "hold_release_reason" check (release_reason in ('FINAL', 'RELEASED', 'EXPIRED'));
      alter table "hold" add constraint "hold_failed" check ((status = 'FAILED') = (phase = 'FAILED'));
      alter table "hold" add constraint "hold_never_placed" check (phase = 'AUTHORIZED' or (captured = 0 and in_flight = 0));
      alter table "hold" add constraint "hold_placed_has_end" check (phase <> 'AUTHORIZED' or (placed_at is not null and expires_at is not null));
      alter table "hold" add constraint "hold_closed_keeps_nothing" check (status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') or remaining = 0);

      create table "claim" ("request_id" uuid not null, "merchant_id" text not null, "key" text null, "method" text null, "fingerprint" bytea null, "created_at" timestamptz(3) not null, primary key ("request_id"));
      create unique index "claim_by_key" on "claim" ("merchant_id", "key") where key is not null;
      create index "claim_key_age" on "claim" ("created_at") where key is not null;
      alter table "claim" add constraint "claim_key" check ((key is null) = (method is null) and (key is null) = (fingerprint is null));

      create table "merchant" ("id" text not null, "name" text not null, "allow_multiple_captures" boolean not null, "hold_period_s" int not null, "currencies" text[] not null, "terminals" text[] not null, "notify_holds" boolean not null, "require_signed_captures" boolean not null, "capture_public_key" text null, "webhook_url" text null, "internal_url" text null, "created_at" timestamptz(3) not null, "change_number" bigint not null, primary key ("id"));
      create index "merchant_change_number" on "merchant" ("change_number");
      alter table "merchant" add constraint "merchant_hold_period" check (hold_period_s between 1 and 2592000);
      alter table "merchant" add constraint "merchant_signed_captures_need_key" check (not require_signed_captures or capture_public_key is not null);

      create table "notification" ("merchant_id" text not null, "request_id" text not null, "kind" text not null, "status_info" text not null, "status" text not null, "amount" text not null, "currency" text not null, "body" bytea null, "received_at" timestamptz(3) not null, primary key ("merchant_id", "request_id"));
      create index "notification_age" on "notification" ("received_at") where body is not null;

      create table "oct" ("request_id" uuid not null, "merchant_id" text not null, "terminal_id" text not null, "user_id" text not null, "token_id" text not null, "state" text not null, "amount" bigint not null, "currency" text not null, "merchant_reference" text null, "card_brand" text null, "card_last4" text null, "card_expiry_month" int null, "card_expiry_year" int null, "processor_reference" text null, "bank_reference" text null, "processor_code" text null, "processor_message" text null, "created_at" timestamptz(3) not null, "final_at" timestamptz(3) null, "inquire_at" timestamptz(3) null, "inquiry_count" int not null, primary key ("request_id"));
      create index "oct_to_inquire" on "oct" ("inquire_at") where inquire_at is not null;
      alter table "oct" add constraint "oct_amount" check (amount between 1 and 999999999999);
      alter table "oct" add constraint "oct_state" check (state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO'));
      alter table "oct" add constraint "oct_final_has_date" check ((state in ('OK', 'KO')) = (final_at is not null));

      create table "operation" ("sequence" bigserial primary key, "request_id" uuid not null, "kind" text not null, "status" text not null, "status_info" text not null, "merchant_id" text not null, "terminal_id" text not null, "user_id" text not null, "amount" bigint not null, "currency" text not null, "hold_request_id" uuid null, "capture_request_id" uuid null, "processor_reference" text null, "bank_reference" text null, "processor_code" text null, "processor_message" text null, "merchant_reference" text null, "final_state_date" timestamptz(3) not null);
      alter table "operation" add constraint "operation_request_id_unique" unique ("request_id");
      create index "operation_by_merchant" on "operation" ("merchant_id", "sequence");
      create index "operation_by_hold" on "operation" ("hold_request_id", "sequence") where hold_request_id is not null;
      alter table "operation" add constraint "operation_status" check (status in ('OK', 'KO'));
      alter table "operation" add constraint "operation_kind" check (kind in ('HOLD', 'CAPTURE', 'RELEASE', 'EXPIRY', 'REVERSAL', 'OCT'));

      create table "processor_event" ("id" text not null, "received_at" timestamptz(3) not null, primary key ("id"));

      create table "release" ("request_id" uuid not null, "hold_request_id" uuid not null, "merchant_id" text not null, "reason" text not null, "state" text not null, "amount" bigint not null, "currency" text not null, "processor_reference" text null, "processor_code" text null, "processor_message" text null, "created_at" timestamptz(3) not null, "final_at" timestamptz(3) null, "inquire_at" timestamptz(3) null, "inquiry_count" int not null, primary key ("request_id"));
      create index "release_by_hold" on "release" ("hold_request_id", "request_id");
      create index "release_to_inquire" on "release" ("inquire_at") where inquire_at is not null;
      alter table "release" add constraint "release_amount" check (amount between 0 and 999999999999);
      alter table "release" add constraint "release_reason" check (reason in ('RELEASED', 'EXPIRED', 'LATE'));
      alter table "release" add constraint "release_state" check (state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO'));

      create table "signature_nonce" ("merchant_id" text not null, "nonce" text not null, "expires_at" timestamptz(3) not null, primary key ("merchant_id", "nonce"));
      create index "signature_nonce_end" on "signature_nonce" ("expires_at");

      create table "signing_secret" ("id" uuid not null, "merchant_id" text not null, "hash" bytea not null, "ciphertext" bytea not null, "created_at" timestamptz(3) not null, "retired_at" timestamptz(3) null, primary key ("id"));
      alter table "signing_secret" add constraint "signing_secret_hash_unique" unique ("hash");
      create index "signing_secret_merchant" on "signing_secret" ("merchant_id");

      create sequence merchant_change;
    `);
  }
}
