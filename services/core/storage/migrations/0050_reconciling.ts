import { Migration } from '@mikro-orm/migrations';

/**
 * A restore, and a fail-over to a standby that lacked commits, lose operations that processors have performed. The timeline of the
 * database shows it, and until it is reconciled nothing is said about what may be lost.
 */
export class Migration0050_reconciling extends Migration {
  override up(): void {
    this.addSql(`alter table "installation" add column "timeline" text not null default '',
      add column "reconciling_since" timestamptz(3) null;`);
    this.addSql(`update "installation" set "timeline" = left(pg_walfile_name(pg_current_wal_lsn()), 8);`);
  }
}
