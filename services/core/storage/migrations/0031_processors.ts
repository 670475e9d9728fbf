import { Migration } from '@mikro-orm/migrations';

/**
 * Core speaks to several processors. A contract names one, with the merchant's account there, and what is sent to a processor remembers
 * where. Empty = the default processor, which is where everything went before.
 */
export class Migration0031_processors extends Migration {
  override up(): void {
    for (const table of ['merchant', 'hold', 'capture', 'release', 'oct']) {
      this.addSql(`alter table "${table}" add column "processor" text not null default '';`);
      this.addSql(`alter table "${table}" add column "processor_account" text not null default '';`);
    }
  }
}
