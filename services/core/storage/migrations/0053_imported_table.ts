import { Migration } from '@mikro-orm/migrations';

/** That something was imported was remembered as an event of a name that a processor may use, too. */
export class Migration0053_imported_table extends Migration {
  override up(): void {
    this.addSql(`create table "imported" ("request_id" uuid not null, "what" text not null, "imported_at" timestamptz(3) not null,
      primary key ("request_id", "what"));`);
  }
}
