import { Migration } from '@mikro-orm/migrations';

/** Two processors may each have done something under the same identifier: under a key that was repeated after its contract had moved. */
export class Migration0051_identifier_by_processor extends Migration {
  override up(): void {
    for (const table of ['hold', 'capture', 'release', 'oct']) {
      const index = `${table}_by_processor_request_id`;
      this.addSql(`drop index "${index}";`);
      this.addSql(
        `create unique index "${index}" on "${table}" ("processor_request_id", "processor") where processor_request_id is not null;`,
      );
    }
  }
}
