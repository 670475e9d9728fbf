import { Migration } from '@mikro-orm/migrations';

/**
 * What a processor said against what was kept or told was in core's log only: an operator decided about a frozen hold
 * without it, and one about an OCT was seen by nobody. It is kept here, with its time, its sender and both sides, until
 * an operator has resolved it. A hold says why it is frozen; one of which something may have been charged that its books
 * do not have does not end by itself. A capture keeps what it gave back when that is not what was left.
 */
export class Migration0006_contradictions extends Migration {
  override up(): void {
    this.addSql(`
      create table "contradiction" (
        "id" uuid not null,
        "at" timestamptz(3) not null,
        "merchant_id" text null,
        "request_id" uuid not null,
        "hold_request_id" uuid null,
        "name" text not null,
        "kind" text not null,
        "source" text not null,
        "processor" text not null,
        "event_id" text null,
        "told" text not null,
        "kept" text not null,
        "told_amount" bigint null,
        "kept_amount" bigint null,
        "currency" text null,
        "reference" text null,
        "resolved_at" timestamptz(3) null,
        "resolved_by" text null,
        "resolution" text null,
        primary key ("id")
      );
      alter table "contradiction" add constraint "contradiction_kind"
        check (
          kind in (
            'RESULT', 'AMOUNT', 'AMOUNT_RELEASED', 'AMOUNT_ENDED', 'FOREIGN_CAPTURE', 'EVENT_REFUSED', 'EVENT_ID_REUSED'
          )
        );
      alter table "contradiction" add constraint "contradiction_source" check (source in ('ANSWER', 'INQUIRY', 'EVENT'));
      alter table "contradiction" add constraint "contradiction_resolved"
        check (
          (resolved_at is null) = (resolved_by is null) and (resolved_at is null) = (resolution is null)
        );
      create unique index "contradiction_open_unique" on "contradiction" ("request_id", "name") where resolved_at is null;
      create index "contradiction_by_request" on "contradiction" ("request_id");
      create index "contradiction_by_hold" on "contradiction" ("hold_request_id") where hold_request_id is not null;
      create index "contradiction_by_event" on "contradiction" ("event_id", "processor")
        where event_id is not null and resolved_at is null;
    `);
    this.addSql(`alter table "hold" add column "frozen_because" text null;`);
    this.addSql(`
      alter table "hold" add constraint "hold_frozen_because"
        check (
          frozen_because in ('UNKNOWN_CHARGE', 'RESULT_CONTRADICTED', 'AMOUNT_DIFFERS')
        ) not valid;
    `);
    this.addSql(`
      alter table "submission" drop constraint "submission_amount_released", add constraint "submission_amount_released"
        check (
          amount_released is null or (amount_released >= 0 and kind in ('RELEASE', 'EXPIRY', 'LATE_VOID', 'CAPTURE'))
        ) not valid;
    `);
  }
}
