import { Migration } from '@mikro-orm/migrations';

/**
 * The relay takes notifications of other senders than Holdfast, each with a scheme and keys of its own. They are stored
 * beside those of before: what they have more is null there. A worker of the release before does not know the headers of
 * a relayed delivery; it refuses a path that is no statusInfo, such as a senderId, and leaves the delivery for later.
 */
export class Migration0021_relay_senders extends Migration {
  override up(): void {
    this.addSql(`
      create table "relay_sender" (
        "id" uuid not null,
        "merchant_id" text not null,
        "name" text not null,
        "scheme" text not null,
        "header" text not null,
        "encoding" text not null,
        "prefix" text not null,
        "timestamped" boolean not null,
        "id_header" text not null,
        "id_pointer" text not null,
        "type_header" text not null,
        "tolerance_seconds" int not null,
        "internal_types" text[] not null,
        "created_at" timestamptz(3) not null,
        primary key ("id")
      );
      alter table "relay_sender" add constraint "relay_sender_scheme"
        check (scheme in ('service-signature', 'standard-webhooks', 'hmac-sha256-body', 'ed25519-body'));
      create index "relay_sender_by_merchant" on "relay_sender" ("merchant_id", "id");
      create table "relay_key" (
        "id" uuid not null,
        "merchant_id" text not null,
        "sender_id" uuid not null,
        "ciphertext" bytea null,
        "public_key" text null,
        "created_at" timestamptz(3) not null,
        primary key ("id")
      );
      alter table "relay_key" add constraint "relay_key_secret_or_public"
        check ((ciphertext is null) <> (public_key is null));
      create index "relay_key_by_sender" on "relay_key" ("sender_id", "id");
    `);
    this.addSql(`alter table "merchant" add column "relay_verification" text not null default 'service-signature';`);
    this.addSql(
      `alter table "notification" add column "identifier" text null, add column "digest" text null,
        add column "relayed_headers" jsonb null;`,
    );
    this.addSql(
      `alter table "quarantined_notification" add column "identifier" text null, add column "digest" text null,
        add column "relayed_headers" jsonb null;`,
    );
    this.addSql(
      `alter table "delivery" add column "relayed_headers" jsonb null,
        drop constraint "delivery_kind", add constraint "delivery_kind"
        check (kind in ('payment', 'oct', 'relay')) not valid;`,
    );
    this.addSql(`alter table "delivery" validate constraint "delivery_kind";`);
  }
}
