import { Migration } from '@mikro-orm/migrations';

/**
 * A notification that is accepted while its merchant has no internalUrl waits for one: its sender's signature, which a delivery would
 * have, is kept until then. Operators look notifications up by merchant, newest first.
 */
export class Migration0021_parked_notifications extends Migration {
  override up(): void {
    this.addSql(`
      alter table "notification" add column "parked_signature" text null;
      create index "notification_parked" on "notification" ("merchant_id", "received_at") where parked_signature is not null;
      create index "notification_by_merchant" on "notification" ("merchant_id", "received_at", "request_id") where body is not null;
    `);
  }
}
