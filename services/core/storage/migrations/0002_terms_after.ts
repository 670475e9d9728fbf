import { Migration } from '@mikro-orm/migrations';

/**
 * An increment, an extension and a release answer with the hold right after them, also when they are repeated. What an
 * update changes of a hold later is kept here as it was.
 */
export class Migration0002_terms_after extends Migration {
  override up(): void {
    this.addSql(`alter table "submission" add column "terms_after" jsonb null;`);
  }
}
