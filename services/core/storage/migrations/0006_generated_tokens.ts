import { Migration } from '@mikro-orm/migrations';

/** Generated tokens are purged by age. Few holds have one, so the index costs next to nothing where holds are written. */
export class Migration0006_generated_tokens extends Migration {
  override up(): void {
    this.addSql(`create index "hold_token_age" on "hold" ("created_at") where generated_token_id is not null;`);
  }
}
