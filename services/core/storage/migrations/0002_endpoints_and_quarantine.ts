import { Migration } from '@mikro-orm/migrations';

/**
 * What the delivery engine and the relay must remember besides deliveries: endpoints that are ill or paused, notifications set aside,
 * and what could not be verified. A replayed delivery starts its schedule anew without losing count of its attempts. Due deliveries are
 * found endpoint by endpoint, so that a million of a paused endpoint are skipped in one step.
 */
export class Migration0002_endpoints_and_quarantine extends Migration {
  override up(): void {
    this.addSql(`
      create table "endpoint" ("merchant_id" text not null, "kind" text not null, "pause" text null, "paused_until" timestamptz(3) null, "failure_count" int not null, "pause_count" int not null, "changed_at" timestamptz(3) not null, primary key ("merchant_id", "kind"));
      alter table "endpoint" add constraint "endpoint_kind" check (kind in ('webhook', 'internal'));
      alter table "endpoint" add constraint "endpoint_pause" check (pause in ('GONE', 'OPERATOR', 'BREAKER'));
      alter table "endpoint" add constraint "endpoint_paused_until" check ((coalesce(pause, '') = 'BREAKER') = (paused_until is not null));

      create table "quarantined_notification" ("id" uuid not null, "merchant_id" text not null, "request_id" text not null, "kind" text not null, "status_info" text not null, "status" text not null, "amount" text not null, "currency" text not null, "body" bytea null, "signature" text not null, "reason" text not null, "state" text not null, "received_at" timestamptz(3) not null, "decided_at" timestamptz(3) null, "delivery_id" uuid null, primary key ("id"));
      create unique index "quarantined_notification_once" on "quarantined_notification" ("merchant_id", "request_id", "kind", "status_info", "status", "amount", "currency", "reason");
      create index "quarantined_notification_held" on "quarantined_notification" ("id") where state = 'HELD';
      alter table "quarantined_notification" add constraint "quarantined_notification_reason" check (reason in ('CONFLICT', 'STATUS_INFO_CONTRADICTED'));
      alter table "quarantined_notification" add constraint "quarantined_notification_state" check (state in ('HELD', 'RELEASED', 'DISCARDED'));

      create table "verification_failure" ("id" uuid not null, "failed_at" timestamptz(3) not null, "reason" text not null, "kind" text not null, "status_info" text not null, "claimed_merchant_id" text not null, "address" text not null, "body_bytes" int not null, "body_sha256" bytea not null, "signature_sha256prefix" text not null, primary key ("id"));

      alter table "delivery" add column "retry_base" int not null default 0;
      drop index "delivery_due_at";
      create index "delivery_due" on "delivery" ("merchant_id", "endpoint_kind", "due_at") where due_at is not null;
    `);
  }
}
