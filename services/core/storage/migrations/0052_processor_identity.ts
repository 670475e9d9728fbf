import { Migration } from '@mikro-orm/migrations';

/** Two processors whose addresses are swapped must not be asked about each other's operations: who each is, is kept from the first contact. */
export class Migration0052_processor_identity extends Migration {
  override up(): void {
    this.addSql(`create table "processor_identity" ("processor" text not null, "name" text not null, "identity" text not null,
      "met_at" timestamptz(3) not null, primary key ("processor"));`);
  }
}
