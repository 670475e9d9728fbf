import { Migration } from '@mikro-orm/migrations';

/**
 * A hold keeps why its merchant initiated it, and the card network's identifiers. That of the customer's own hold is
 * found by its card and user.
 */
export class Migration0018_merchant_initiated extends Migration {
  override up(): void {
    this.addSql(
      `alter table "hold" add column "merchant_reason" text null, add column "sent_network_transaction_id" text null, add column "network_transaction_id" text null;`,
    );
    this.addSql(
      `create index concurrently "hold_network_transaction" on "hold" ("merchant_id", coalesce("token_id", "generated_token_id"), "user_id", "created_at") where "customer_present" and "network_transaction_id" is not null;`,
    );
  }
}
