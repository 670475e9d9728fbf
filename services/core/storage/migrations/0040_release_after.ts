import { Migration } from '@mikro-orm/migrations';

/** A release keeps the hold as it was right after it, as a capture does, so that its answer can be repeated. */
export class Migration0040_release_after extends Migration {
  override up(): void {
    for (const column of ['captured_after', 'remaining_after', 'released_after', 'reversed_after']) {
      this.addSql(`alter table "release" add column "${column}" bigint null;`);
    }
    this.addSql(`alter table "release" add column "status_after" text null, add column "frozen_after" boolean null;`);
  }
}
