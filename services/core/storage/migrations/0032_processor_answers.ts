import { Migration } from '@mikro-orm/migrations';

/**
 * What processors say of a hold besides how its placing ended. `capabilities`: what the authorization can do; null for holds placed
 * before, and when the processor does not say. `amount_released`: what a void gave back; null for voids before, and when it does not say.
 * `ended_as` and `reported`: the processor ended an authorization by itself; such a release was never sent.
 * `amount_reversed`: what of a capture was taken back; reinstatements give it again.
 * `expected_by`: until when a request that was accepted may normally have no result.
 */
export class Migration0032_processor_answers extends Migration {
  override up(): void {
    this.addSql(`alter table "hold" add column "capabilities" jsonb null;`);
    this.addSql(`
      alter table "release" add column "amount_released" bigint null;
      alter table "release" add constraint "release_amount_released" check (amount_released >= 0);
    `);
    this.addSql(`
      alter table "release" add column "reported" boolean not null default false;
      alter table "hold" add column "ended_as" text null;
      alter table "hold" add column "ended_amount" bigint null;
      alter table "hold" add column "ended_reference" text null;
      alter table "hold" add constraint "hold_ended_as" check (ended_as in ('RELEASED', 'EXPIRED'));
      alter table "hold" add constraint "hold_ended_amount" check ((ended_as is null) = (ended_amount is null) and ended_amount >= 0);
      create index "hold_open_ended" on "hold" ("request_id") where ended_as is not null and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED');
    `);
    this.addSql(`
      alter table "capture" add column "amount_reversed" bigint not null default 0;
      alter table "capture" add constraint "capture_amount_reversed" check (amount_reversed >= 0 and amount_reversed <= amount);
      alter table "capture" add constraint "capture_amount_reversed_was_ok" check (amount_reversed = 0 or state = 'OK');
      alter table "operation" drop constraint "operation_kind";
      alter table "operation" add constraint "operation_kind"
        check (kind in ('HOLD', 'CAPTURE', 'RELEASE', 'EXPIRY', 'REVERSAL', 'REINSTATEMENT', 'OCT'));
    `);
    for (const table of ['hold', 'capture', 'release', 'oct']) {
      this.addSql(`alter table "${table}" add column "expected_by" timestamptz(3) null;`);
    }
  }
}
