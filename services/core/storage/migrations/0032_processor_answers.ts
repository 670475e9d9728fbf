import { Migration } from '@mikro-orm/migrations';

/**
 * What processors say of a hold besides how its placing ended. `capabilities`: what the authorization can do; null for holds placed
 * before, and when the processor does not say. `amount_released`: what a void gave back; null for voids before, and when it does not say.
 * `expected_by`: until when a request that was accepted may normally have no result.
 */
export class Migration0032_processor_answers extends Migration {
  override up(): void {
    this.addSql(`alter table "hold" add column "capabilities" jsonb null;`);
    this.addSql(`
      alter table "release" add column "amount_released" bigint null;
      alter table "release" add constraint "release_amount_released" check (amount_released >= 0);
    `);
    for (const table of ['hold', 'capture', 'release', 'oct']) {
      this.addSql(`alter table "${table}" add column "expected_by" timestamptz(3) null;`);
    }
  }
}
