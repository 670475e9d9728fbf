import { Migration } from '@mikro-orm/migrations';

/** What an event said, so that the same identifier with other content is noticed. Events remembered before have none. */
export class Migration0030_processor_event_digest extends Migration {
  override up(): void {
    this.addSql(`alter table "processor_event" add column "digest" bytea null;`);
  }
}
