import { Migration } from '@mikro-orm/migrations';

/**
 * A contract says whether a merchant may pay out, how much its operations may move, and which of them must be signed.
 * Merchants that exist, and those that the release before creates, may pay out; the code says false for new ones.
 * Signed captures keep their column, which the release before reads.
 *
 * `spent` has what a merchant with a limit of a day has stored on it. The row whose part is the nil UUID is the sum,
 * which the statement that stores updates. The others are what came back since, by the operation that says so: settling
 * inserts them without waiting for the sum's lock, and the next statement that stores adds them to the sum.
 */
export class Migration0029_money_out extends Migration {
  override up(): void {
    this.addSql(
      `alter table "merchant" add column "allow_oct" boolean not null default true,
        add column "require_signed_octs" boolean not null default false,
        add column "require_signed_refunds" boolean not null default false,
        add column "limits" jsonb null;`,
    );
    this.addSql(`alter table "submission" add column "counted_on" date null;`);
    this.addSql(
      `create table "spent" (
        "merchant_id" text not null,
        "operation" text not null,
        "currency" text not null,
        "day" date not null,
        "part" uuid not null,
        "amount" bigint not null,
        "taken" bigint not null default 0,
        primary key ("merchant_id", "operation", "currency", "day", "part"),
        constraint "spent_operation" check ("operation" in ('CAPTURE', 'OCT', 'REFUND'))
      );`,
    );
    this.addSql(`create index "spent_day" on "spent" ("day");`);
  }
}
