import { Migration } from '@mikro-orm/migrations';

/**
 * Captures, releases, refunds, increments and OCTs have a reference, metadata and a reason of their own: kept with what
 * is sent, and shown with its result. A contract may take references that look like card numbers.
 */
export class Migration0009_words_of_operations extends Migration {
  override up(): void {
    this.addSql(`alter table "submission" add column "metadata" jsonb null, add column "reason" text null;`);
    this.addSql(`alter table "operation" add column "metadata" jsonb null, add column "reason" text null;`);
    this.addSql(`alter table "merchant" add column "allow_card_like_references" boolean not null default false;`);
  }
}
