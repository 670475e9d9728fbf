import { Migration } from '@mikro-orm/migrations';

/**
 * An API key may manage its merchant's webhook: address, signing secrets, deliveries. Keys from before were given out for payments
 * alone, so they may not.
 */
export class Migration0036_keys_manage_webhooks extends Migration {
  override up(): void {
    this.addSql(`alter table "api_key" add column "manages_webhook" boolean not null default false;`);
  }
}
