import { Migration } from '@mikro-orm/migrations';

/** The result of a PARTIAL_RELEASE can be corrected. The function is that of 0017 with one more kind in one rule. */
export class Migration0019_corrected_partial_release extends Migration {
  override up(): void {
    this.addSql(
      `do $change$ begin
        execute replace(pg_get_functiondef('submission_rules'::regproc),
          '''INCREMENT'', ''REFUND'', ''OCT'')', '''INCREMENT'', ''REFUND'', ''OCT'', ''PARTIAL_RELEASE'')');
      end $change$;`,
    );
  }
}
