import { Migration } from '@mikro-orm/migrations';

/**
 * A merchant has further endpoints besides the two of its contract. Their secrets have a table of their own, because
 * processes of 1.0.0 take every row of signing_secret for one of the merchant's: the relay would accept what another
 * endpoint's receiver can sign. Those processes leave deliveries to further endpoints alone.
 *
 * The statement that settles reads has_endpoints with the merchant, so that one without further endpoints costs no
 * second look.
 */
export class Migration0024_webhook_endpoints extends Migration {
  override up(): void {
    this.addSql(`alter table "merchant" add column "has_endpoints" boolean not null default false;`);
    this.addSql(
      `create table "webhook_endpoint" (
        "merchant_id" text not null,
        "id" text not null,
        "url" text not null,
        "types" text[] null,
        "description" text not null,
        "headers_ciphertext" bytea null,
        "timeout_s" int not null,
        "created_at" timestamptz(3) not null,
        primary key ("merchant_id", "id"),
        constraint "webhook_endpoint_id" check ("id" ~ '^(webhook|internal)-[0-9a-f-]{36}$'),
        constraint "webhook_endpoint_timeout" check ("timeout_s" between 5 and 30)
      );`,
    );
    this.addSql(
      `create table "endpoint_secret" (
        "id" uuid not null,
        "merchant_id" text not null,
        "endpoint_id" text not null,
        "hash" bytea not null,
        "ciphertext" bytea not null,
        "created_at" timestamptz(3) not null,
        "retired_at" timestamptz(3) null,
        primary key ("id"),
        constraint "endpoint_secret_hash_unique" unique ("hash")
      );`,
    );
    this.addSql(`create index "endpoint_secret_of" on "endpoint_secret" ("merchant_id", "endpoint_id");`);
    this.addSql(
      `alter table "delivery" drop constraint "delivery_endpoint_kind", add constraint "delivery_endpoint_kind"
        check (endpoint_kind in ('webhook', 'internal') or endpoint_kind ~ '^(webhook|internal)-[0-9a-f-]{36}$')
        not valid;`,
    );
    this.addSql(
      `alter table "endpoint" drop constraint "endpoint_kind", add constraint "endpoint_kind"
        check (kind in ('webhook', 'internal') or kind ~ '^(webhook|internal)-[0-9a-f-]{36}$') not valid;`,
    );
  }
}
