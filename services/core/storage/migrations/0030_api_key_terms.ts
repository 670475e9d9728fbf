import { Migration } from '@mikro-orm/migrations';

/**
 * An API key may do less than its merchant: some scopes, until a time, from some networks. Null scopes are all but that
 * of the webhook, which stays in manages_webhook: so are the keys that exist, and those that the release before creates.
 */
export class Migration0030_api_key_terms extends Migration {
  override up(): void {
    this.addSql(
      `alter table "api_key" add column "scopes" text[] null, add column "expires_at" timestamptz(3) null,
        add column "allowed_cidrs" text[] null, add column "last_used_at" timestamptz(3) null;`,
    );
  }
}
