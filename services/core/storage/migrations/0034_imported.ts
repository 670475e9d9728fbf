import { Migration } from '@mikro-orm/migrations';

/**
 * After a restore, what only the processor knows is imported from its books. Such a row has its result from them and has no key, so it is
 * told apart from one that a call made.
 */
export class Migration0034_imported extends Migration {
  override up(): void {
    for (const table of ['hold', 'capture', 'release', 'oct']) {
      this.addSql(`alter table "${table}" add column "imported" boolean not null default false;`);
    }
  }
}
