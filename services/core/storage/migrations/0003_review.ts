import { Migration } from '@mikro-orm/migrations';

/**
 * What operators look at is rare among millions of rows: attempts without a known outcome, frozen holds, dead deliveries. Each gets an
 * index over just those rows, so that the console's counts and lists cost next to nothing, and nothing at all where money is booked.
 */
export class Migration0003_review extends Migration {
  override up(): void {
    this.addSql(`
      create index "hold_in_review" on "hold" ("request_id") where frozen or phase in ('UNKNOWN', 'NEEDS_REVIEW');
      create index "capture_in_review" on "capture" ("request_id") where state in ('UNKNOWN', 'NEEDS_REVIEW');
      create index "release_in_review" on "release" ("request_id") where state in ('UNKNOWN', 'NEEDS_REVIEW');
      create index "oct_in_review" on "oct" ("request_id") where state in ('UNKNOWN', 'NEEDS_REVIEW');
      create index "delivery_dead" on "delivery" ("id") where state = 'DEAD';
      create index "audit_entry_by_target" on "audit_entry" ("target", "id");
    `);
  }
}
