import { Migration } from '@mikro-orm/migrations';

/** Each processor draws its own event ids. Events remembered before are of any processor: their name is empty. */
export class Migration0037_events_by_processor extends Migration {
  override up(): void {
    this.addSql(`alter table "processor_event" add column "processor" text not null default '';`);
    this.addSql(
      `alter table "processor_event" drop constraint "processor_event_pkey", add primary key ("id", "processor");`,
    );
  }
}
