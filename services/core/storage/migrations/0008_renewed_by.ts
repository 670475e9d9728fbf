import { Migration } from '@mikro-orm/migrations';

/**
 * Ten renewals of one hold at once made ten holds: a hold keeps which one renews it, so that another renewal is judged
 * by that, and stored only where the hold has not changed since.
 */
export class Migration0008_renewed_by extends Migration {
  override up(): void {
    this.addSql(`alter table "hold" add column "renewed_by" uuid null;`);
  }
}
