import { Migration } from '@mikro-orm/migrations';

/**
 * Accepted notifications get a sequence, by which the stream of them is read. A trigger draws it, so that what the
 * release before stores beside this one is in the stream, too. The sequence of notifications from before stays null:
 * no stream began before them.
 *
 * The second index is for a merchant's stream that is behind, which must not read what all the others have received.
 */
export class Migration0026_relayed_order extends Migration {
  override up(): void {
    this.addSql(`create sequence "notification_sequence_seq";`);
    this.addSql(`alter table "notification" add column "sequence" bigint null;`);
    this.addSql(
      `create function notification_sequence() returns trigger language plpgsql as
        'begin new.sequence := nextval(''notification_sequence_seq''); return new; end';`,
    );
    this.addSql(
      `create trigger "notification_sequence" before insert on "notification" for each row
        when (new."sequence" is null) execute function notification_sequence();`,
    );
    this.addSql(
      `create index concurrently "notification_by_sequence" on "notification" ("sequence") where "sequence" is not null;`,
    );
    this.addSql(
      `create index concurrently "notification_by_merchant_sequence" on "notification" ("merchant_id", "sequence")
        where "sequence" is not null;`,
    );
  }
}
