import { Migration } from '@mikro-orm/migrations';

/**
 * What is sent under an Idempotency-Key has an identifier at the processor that follows from the key, so that a key that is repeated after
 * a restore meets what the processor did before it. Empty = the requestId is the identifier. The installation's id is part of it: two
 * installations with one processor must not meet each other's operations.
 */
export class Migration0033_processor_request_id extends Migration {
  override up(): void {
    for (const table of ['hold', 'capture', 'release', 'oct']) {
      this.addSql(`alter table "${table}" add column "processor_request_id" uuid null;`);
      this.addSql(
        `create unique index "${table}_by_processor_request_id" on "${table}" ("processor_request_id") where processor_request_id is not null;`,
      );
    }
    this.addSql(`create table "installation" ("number" int not null, "id" uuid not null, primary key ("number"),
      constraint "installation_is_one" check (number = 1));`);
    this.addSql(`insert into "installation" ("number", "id") values (1, gen_random_uuid());`);
  }
}
