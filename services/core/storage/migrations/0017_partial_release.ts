import { Migration } from '@mikro-orm/migrations';

/**
 * A hold can give a part of it back and stay open: a PARTIAL_RELEASE, whose `amount_released` is that part. The function
 * is that of 0013 with one more kind in two of its rules.
 */
export class Migration0017_partial_release extends Migration {
  override up(): void {
    this.addSql(
      `do $change$ begin
        execute replace(replace(pg_get_functiondef('submission_rules'::regproc),
          '''EXTENSION'', ''REFUND'')', '''EXTENSION'', ''REFUND'', ''PARTIAL_RELEASE'')'),
          '''LATE_VOID'', ''CAPTURE'')', '''LATE_VOID'', ''CAPTURE'', ''PARTIAL_RELEASE'')');
      end $change$;`,
    );
    this.addSql(
      `alter table "operation" drop constraint "operation_kind", add constraint "operation_kind"
        check (
          kind in ('HOLD', 'CAPTURE', 'RELEASE', 'EXPIRY', 'REVERSAL', 'REINSTATEMENT', 'EXPIRING', 'OCT', 'INCREMENT',
          'EXTENSION', 'REFUND', 'REFUND_RETURN', 'OCT_RETURN', 'CORRECTION', 'PARTIAL_RELEASE')
        ) not valid;`,
    );
  }
}
