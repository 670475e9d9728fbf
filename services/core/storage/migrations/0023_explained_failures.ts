import { Migration } from '@mikro-orm/migrations';

/**
 * A merchant reads why the relay could not verify what a sender sent: what had to be signed, and which usual mistake
 * makes the signature that came. Failures of before have no explanation.
 */
export class Migration0023_explained_failures extends Migration {
  override up(): void {
    this.addSql(`alter table "verification_failure" add column "explain" jsonb null;`);
  }
}
