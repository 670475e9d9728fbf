import { Migration } from '@mikro-orm/migrations';

/**
 * A hold can be kept: it renews itself before its guarantee ends. A RENEWAL is a submission whose authorization becomes
 * the hold's; what follows names the authorization that it is on. The function is that of 0019 with one more kind.
 */
export class Migration0020_kept_holds extends Migration {
  override up(): void {
    this.addSql(
      `alter table "hold" add column "keep_until" timestamptz(3) null, add column "renew_at" timestamptz(3) null,
        add column "renewal_id" uuid null, add column "authorization_id" uuid null, add column "to_void" uuid null;`,
    );
    this.addSql(`alter table "submission" add column "authorization_id" uuid null;`);
    this.addSql(
      `do $change$ begin
        execute replace(pg_get_functiondef('submission_rules'::regproc),
          '(kind in (''CAPTURE'', ''RELEASE'',', '(kind in (''RENEWAL'', ''CAPTURE'', ''RELEASE'',');
      end $change$;`,
    );
    this.addSql(
      `alter table "operation" drop constraint "operation_kind", add constraint "operation_kind"
        check (
          kind in ('HOLD', 'CAPTURE', 'RELEASE', 'EXPIRY', 'REVERSAL', 'REINSTATEMENT', 'EXPIRING', 'OCT', 'INCREMENT',
          'EXTENSION', 'REFUND', 'REFUND_RETURN', 'OCT_RETURN', 'CORRECTION', 'PARTIAL_RELEASE', 'RENEWAL')
        ) not valid;`,
    );
    const open = `renew_at is not null and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED'`;
    this.addSql(`create index concurrently "hold_to_renew" on "hold" ("renew_at") where ${open};`);
    this.addSql(
      `create index concurrently "hold_turns_to_renew" on "hold" ("processor", "merchant_id", "renew_at") where ${open};`,
    );
    this.addSql(`create index concurrently "hold_to_void" on "hold" ("created_at") where to_void is not null;`);
    this.addSql(
      `create index concurrently "hold_turns_to_void" on "hold" ("processor", "merchant_id", "created_at")
        where to_void is not null;`,
    );
  }
}
