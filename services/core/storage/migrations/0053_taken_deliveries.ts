import { Migration } from '@mikro-orm/migrations';

/**
 * A worker takes a delivery by a lock on its row, which ends by itself when the worker dies. Pages keep room, so that taking a delivery
 * changes no index.
 */
export class Migration0053_taken_deliveries extends Migration {
  override up(): void {
    this.addSql(`alter table "delivery" add column "locked_until" timestamptz(3) null;`);
    this.addSql(`alter table "delivery" set (fillfactor = 60);`);
  }
}
