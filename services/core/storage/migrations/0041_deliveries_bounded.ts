import { Migration } from '@mikro-orm/migrations';

/** What an attempt connected to and what failed, quotas of merchants, and an index for what a merchant has in quarantine. */
export class Migration0041_deliveries_bounded extends Migration {
  override up(): void {
    this.addSql(`alter table "delivery_attempt" add column "url" text null, add column "fault" text null;`);
    this.addSql(
      `alter table "delivery_attempt" add constraint "delivery_attempt_fault" check (fault in ('LOOKUP', 'UNREACHABLE', 'TLS', 'TIMEOUT', 'PROTOCOL'));`,
    );
    this.addSql(
      `create table "quota" ("merchant_id" text not null, "action" text not null, "window_start" timestamptz(3) not null, "used" int not null, primary key ("merchant_id", "action"));`,
    );
    this.addSql(
      `create index "quarantined_notification_held_by_merchant" on "quarantined_notification" ("merchant_id", "id") where state = 'HELD';`,
    );
    this.addSql(`create index "audit_entry_by_actor" on "audit_entry" ("actor", "id");`);
  }
}
