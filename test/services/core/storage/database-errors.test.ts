import assert from 'node:assert/strict';
import { isDatabaseAway } from '../../../../services/core/storage/database-errors.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage, why } from '../stage.ts';

describe('a database that cannot store anything', () => {
  const stage = forSuite(openStage);
  const acme = forSuite(() => openMerchant(stage, 'acme'));

  /** SQLSTATEs (PostgreSQL, appendix A). */
  const cases = {
    'whose disk is full': '53100',
    'that has no memory left': '53200',
    'whose disk fails': '58030',
    'that misses a file': '58P01',
  };
  for (const [what, code] of Object.entries(cases)) {
    it(`${what} is away`, async () => {
      const says = `create or replace function refuse() returns trigger language plpgsql as $$
        begin raise exception 'no' using errcode = '${code}'; end $$`;
      await sql(stage, says);
      for (const table of ['hold', 'submission', 'api_key'])
        await sql(stage, `create or replace trigger refuse before insert on ${table} execute function refuse()`);
      const { merchants } = stage.channel('operator');
      assert.equal(await why(acme.place()), 'UNAVAILABLE');
      assert.equal(await why(acme.oct()), 'UNAVAILABLE');
      assert.equal(await why(merchants.createApiKey({ merchantId: 'acme' })), 'UNAVAILABLE');
    });
  }

  it('because its transaction ids are used up is away', () => {
    const limit = (routine: string) => Object.assign(new Error('limit'), { code: '54000', routine });
    for (const routine of ['GetNewTransactionId', 'GetNewMultiXactId']) assert(isDatabaseAway(limit(routine)), routine);
    assert(!isDatabaseAway(limit('_bt_check_third_page')), 'a row that is too large for an index');
  });
});
