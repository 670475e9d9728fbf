import { Migration } from '@mikro-orm/migrations';

/**
 * statusInfo is not signed, so whoever holds one notification can send it under any number of words, and each filled a row of the
 * quarantine. The key that makes a quarantined notification unique leaves out what its sender may choose. Rows of before have none.
 */
export class Migration0020_quarantined_once extends Migration {
  override up(): void {
    this.addSql(`
      alter table "quarantined_notification" add column "once_key" text null;
      alter table "quarantined_notification" add constraint "quarantined_notification_once_key_unique" unique ("once_key");
    `);
  }
}
