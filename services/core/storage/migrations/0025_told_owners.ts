import { Migration } from '@mikro-orm/migrations';

/**
 * The owner of an endpoint is told that it fails, by notifications to the merchant's other endpoints. `told` has what
 * was said since the endpoint worked last, so that each state is told once, whoever records it; `last_error` is the
 * newest failure since then. Both are null in rows that processes of 1.0.0 write, and stay as they are in those that
 * they change.
 *
 * A signing secret may have a time at which it ends. Processes of 1.0.0 know nothing of it: for them the secret lives
 * until the worker retires it.
 */
export class Migration0025_told_owners extends Migration {
  override up(): void {
    this.addSql(`alter table "endpoint" add column "told" text[] null, add column "last_error" text null;`);
    for (const table of ['signing_secret', 'endpoint_secret']) {
      this.addSql(
        `alter table "${table}" add column "expires_at" timestamptz(3) null, add column "expiry_told_at" timestamptz(3) null;`,
      );
    }
    this.addSql(
      `alter table "delivery" drop constraint "delivery_kind", add constraint "delivery_kind"
        check (kind in ('payment', 'oct', 'relay', 'endpoint', 'delivery', 'signing_secret')) not valid;`,
    );
    this.addSql(`alter table "delivery" validate constraint "delivery_kind";`);
    this.addSql(
      `create index concurrently "delivery_dead_by_endpoint" on "delivery" ("merchant_id", "endpoint_kind", "id") where "due_at" is null and "state" <> 'DELIVERED';`,
    );
  }
}
