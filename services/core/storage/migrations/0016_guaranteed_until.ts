import { Migration } from '@mikro-orm/migrations';

/** A hold keeps how long the card scheme guarantees it; the notice that it ends soon counts from there. */
export class Migration0016_guaranteed_until extends Migration {
  override up(): void {
    this.addSql(
      `alter table "hold" add column "guaranteed_until" timestamptz(3) null, add column "first_guaranteed_until" timestamptz(3) null;`,
    );
    this.addSql(`alter table "submission" add column "guaranteed_until_after" timestamptz(3) null;`);
  }
}
