/** A core that runs while a later release has migrated already. */
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage } from '../stage.ts';

describe('columns that a later migration adds', () => {
  const stage = forSuite(() => openStage());
  const acme = forSuite(() => openMerchant(stage, 'acme'));

  it('do not stop a core that does not know them, whose statements are prepared already', async () => {
    const captures = () => Promise.all(Array.from({ length: 20 }, () => acme.captured()));
    await captures();
    for (const table of ['hold', 'submission', 'operation']) {
      // Also with a name that the input of the statements has.
      await sql(stage, `alter table ${table} add later int not null default 1, add key text`, []);
    }
    await captures();
    await acme.oct();
  });
});
