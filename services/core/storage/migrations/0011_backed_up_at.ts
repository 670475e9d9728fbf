import { Migration } from '@mikro-orm/migrations';

/**
 * When the last backup that was verified was made: written by who makes backups, and shown by the workers as its age.
 * Null = none was recorded.
 */
export class Migration0011_backed_up_at extends Migration {
  override up(): void {
    this.addSql(`alter table "installation" add column "backed_up_at" timestamptz(3) null;`);
  }
}
