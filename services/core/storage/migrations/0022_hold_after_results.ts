import { Migration } from '@mikro-orm/migrations';

/**
 * A notification says what its result left of the hold, and is made again from the log: results keep the hold as it was
 * after them, under the names that submissions have for it, and the form of their notification's body. Those of before
 * have none of it, and their bodies are made again as they were signed.
 */
export class Migration0022_hold_after_results extends Migration {
  override up(): void {
    this.addSql(
      `alter table "operation" add column "status_after" text null, add column "phase_after" text null,
        add column "amount_after" bigint null, add column "captured_after" bigint null,
        add column "remaining_after" bigint null, add column "released_after" bigint null,
        add column "refunded_after" bigint null, add column "reversed_after" bigint null,
        add column "expires_at_after" timestamptz(3) null, add column "guaranteed_until_after" timestamptz(3) null,
        add column "body_form" smallint null;`,
    );
  }
}
