import { Migration } from '@mikro-orm/migrations';

/**
 * A console session lives in its cookie, so every gateway must know which ones were ended by signing out: also one that started later,
 * and also without Redis. The change number is the credentials feed's, which tells of them.
 */
export class Migration0022_ended_sessions extends Migration {
  override up(): void {
    this.addSql(`
      create table "ended_session" ("session_hash" bytea not null, "expires_at" timestamptz(3) not null, "change_number" bigint not null, primary key ("session_hash"));
      create index "ended_session_change_number_index" on "ended_session" ("change_number");
    `);
  }
}
