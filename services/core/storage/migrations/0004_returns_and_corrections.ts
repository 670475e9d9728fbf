import { Migration } from '@mikro-orm/migrations';

/**
 * A refund or an OCT may come back, and a result may be corrected. The card scheme may take back what was refunded
 * before, so what is reversed and what is refunded are bounded each by itself. A CHECK that is replaced allows all that
 * it allowed, so the rows that are there need not be read again, and the release before runs on.
 */
export class Migration0004_returns_and_corrections extends Migration {
  override up(): void {
    this.addSql(
      `alter table "hold" drop constraint "hold_taken_back", add constraint "hold_taken_back"
        check (
          reversed >= 0 and refunded >= 0 and refunding >= 0 and reversed <= captured
          and refunded + refunding <= captured
        ) not valid;`,
    );
    this.addSql(
      `alter table "submission"
        add column "amount_returned" bigint not null default 0,
        add column "first_state" text null,
        drop constraint "submission_taken_back", add constraint "submission_taken_back"
        check (
          amount_reversed >= 0 and amount_refunded >= 0 and amount_refunding >= 0 and amount_reversed <= amount
          and amount_refunded + amount_refunding <= amount
        ) not valid,
        add constraint "submission_returned"
        check (
          amount_returned >= 0 and amount_returned <= amount and (amount_returned = 0 or kind in ('REFUND', 'OCT'))
        ) not valid,
        add constraint "submission_first_state"
        check (
          first_state is null or (first_state in ('OK', 'KO') and state in ('OK', 'KO')
          and kind in ('CAPTURE', 'INCREMENT', 'REFUND', 'OCT'))
        ) not valid;`,
    );
    this.addSql(
      `alter table "operation"
        add column "refund_request_id" uuid null,
        add column "oct_request_id" uuid null,
        add column "corrects_request_id" uuid null,
        drop constraint "operation_kind", add constraint "operation_kind"
        check (
          kind in ('HOLD', 'CAPTURE', 'RELEASE', 'EXPIRY', 'REVERSAL', 'REINSTATEMENT', 'EXPIRING', 'OCT', 'INCREMENT',
          'EXTENSION', 'REFUND', 'REFUND_RETURN', 'OCT_RETURN', 'CORRECTION')
        ) not valid;`,
    );
  }
}
