import { Migration } from '@mikro-orm/migrations';

/**
 * A hold keeps whether its customer is to be authenticated in any case. One that waits for its customer's
 * authentication waits as a checkout does, in the same phase and columns, so that the release before this one sees to
 * its end, too.
 */
export class Migration0014_step_up extends Migration {
  override up(): void {
    this.addSql(`alter table "hold" add column "challenge" boolean null;`);
  }
}
