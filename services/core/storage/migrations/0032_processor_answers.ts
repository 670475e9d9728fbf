import { Migration } from '@mikro-orm/migrations';

/**
 * What processors say of a hold besides how its placing ended. `capabilities`: what the authorization can do; null for holds placed
 * before, and when the processor does not say.
 */
export class Migration0032_processor_answers extends Migration {
  override up(): void {
    this.addSql(`alter table "hold" add column "capabilities" jsonb null;`);
  }
}
