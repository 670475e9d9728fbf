import { Migration } from '@mikro-orm/migrations';

/**
 * A merchant's dead deliveries are found without reading those of all others: 300 000 of another merchant cost a
 * recovery of none 0.9 s. The condition is not that of the index of all dead ones, so that a plan that is kept cannot
 * prefer that one, because it was small once.
 *
 * What happened in each minute is counted once, when it is over, for the operators' charts: they walked 200 000 rows at
 * each look. `merchant_id` '' has the sum of all merchants; a minute of which it has counts is complete.
 */
export class Migration0012_dead_by_merchant extends Migration {
  override up(): void {
    this.addSql(
      `create table "minute_count" ("start" timestamptz(3) not null, "merchant_id" text not null, "ok_count" int null, "ko_count" int null, "delivery_count" int null, "verified_count" int null, "refused_count" int null, "waiting_count" int null, constraint "minute_count_pkey" primary key ("start", "merchant_id"));`,
    );
    this.addSql(
      `create index concurrently "delivery_dead_by_merchant" on "delivery" ("merchant_id", "created_at") where "due_at" is null and "state" <> 'DELIVERED';`,
    );
  }
}
