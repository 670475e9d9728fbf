import { Migration } from '@mikro-orm/migrations';

/**
 * Where an accepted notification stands is asked of the delivery that forwards it, which must not be one that a release
 * from quarantine made. Without an index each row of that list read all that was ever quarantined.
 */
export class Migration0003_released_by_delivery extends Migration {
  override up(): void {
    this.addSql(
      `create index "quarantined_notification_by_delivery" on "quarantined_notification" ("delivery_id") where "delivery_id" is not null;`,
    );
  }
}
