import { Migration } from '@mikro-orm/migrations';

/**
 * What is due is searched merchant by merchant when it is more than there is room for, so that one merchant's does not
 * stand before all others'. Each index of turns has the rows of one by time, by processor and merchant; the three by
 * time are for searches that had none.
 *
 * An endpoint that answers 401 or 404 is not paused, but it does not work either: that is counted by itself, because
 * the release before pauses by failure_count.
 */
export class Migration0010_turns_and_health extends Migration {
  override up(): void {
    this.addSql(`alter table "endpoint" add column "refused_count" int not null default 0;`);
    this.addSql(`alter table "endpoint" add column "failing_since" timestamptz(3) null;`);
    this.addSql(
      `create index concurrently "hold_turns_to_capture" on "hold" ("processor", "merchant_id", "capture_at") where "capture_at" is not null and "auto_capture_id" is null and "status" in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and "phase" = 'AUTHORIZED';`,
    );
    this.addSql(
      `create index concurrently "hold_turns_by_end" on "hold" ("processor", "merchant_id", "expires_at") where "status" in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and "phase" = 'AUTHORIZED';`,
    );
    this.addSql(
      `create index concurrently "hold_turns_by_release" on "hold" ("processor", "merchant_id", "release_at") where "release_at" is not null and "status" in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and "phase" = 'AUTHORIZED';`,
    );
    this.addSql(
      `create index concurrently "hold_turns_ended" on "hold" ("processor", "merchant_id", "created_at") where "ended_as" is not null and "status" in ('IN_PROGRESS', 'PARTIALLY_CAPTURED');`,
    );
    this.addSql(
      `create index concurrently "hold_turns_expiring" on "hold" ("processor", "merchant_id", "notify_expiring_at") where "notify_expiring_at" is not null and "status" in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and "phase" = 'AUTHORIZED';`,
    );
    this.addSql(
      `create index concurrently "hold_turns_releases_old" on "hold" ("processor", "merchant_id", "created_at") where "releases_old";`,
    );
    this.addSql(
      `create index concurrently "hold_turns_to_inquire" on "hold" ("processor", "merchant_id", "inquire_at") where "inquire_at" is not null;`,
    );
    this.addSql(
      `create index concurrently "submission_turns_to_inquire" on "submission" ("processor", "merchant_id", "inquire_at") where "inquire_at" is not null;`,
    );
    this.addSql(
      `create index concurrently "hold_ended_by_age" on "hold" ("created_at") where "ended_as" is not null and "status" in ('IN_PROGRESS', 'PARTIALLY_CAPTURED');`,
    );
    this.addSql(`create index concurrently "hold_releases_old_by_age" on "hold" ("created_at") where "releases_old";`);
    this.addSql(
      `create index concurrently "hold_checkout_to_inquire" on "hold" ("inquire_at") where "inquire_at" is not null and "phase" = 'AWAITING_CHECKOUT';`,
    );
    this.addSql(
      `create index concurrently "hold_turns_of_checkout" on "hold" ("processor", "merchant_id", "inquire_at") where "inquire_at" is not null and "phase" = 'AWAITING_CHECKOUT';`,
    );
  }
}
