import { Migration } from '@mikro-orm/migrations';

/** A notification is delivered long after the request that caused it has ended; its trace goes on with each attempt. */
export class Migration0004_trace_parent extends Migration {
  override up(): void {
    this.addSql('alter table "delivery" add column "trace_parent" text null;');
  }
}
