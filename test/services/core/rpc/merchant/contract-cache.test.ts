import assert from 'node:assert/strict';
import { openContractCache } from '../../../../../services/core/rpc/merchant/contract-cache.ts';
import type { Query, Statement } from '../../../../../services/core/storage/database.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, type Stage } from '../../stage.ts';

describe('the cache of contracts', () => {
  const stage = forSuite(openStage);
  const merchants = forSuite(() => stage.channel('operator').merchants);

  /** A cache on the stage's database, and the names of its statements. */
  function openCounted({ recovery: { database }, clock }: Stage) {
    const statements: string[] = [];
    const query: Query = (statement: Statement, values) => {
      statements.push(statement.name);
      return database.query(statement, values);
    };
    return { ...openContractCache({ query }, () => new Date(clock.now())), statements };
  }

  const rename = async (merchantId: string, name: string) => {
    const { merchant } = await merchants.getMerchant({ merchantId });
    await merchants.updateMerchant({ merchantId, name, contract: merchant?.contract });
  };

  it('asks once a second for the changes of all merchants, and reads none again that has not changed', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `many${index}`);
    for (const id of ids) await openMerchant(stage, id);
    const { find, statements } = openCounted(stage);
    for (const id of ids) assert.equal((await find(id))?.id, id);
    statements.length = 0;
    for (let second = 0; second < 3; second++) {
      stage.clock.advance(1_001);
      await Promise.all([...ids, ...ids].map(find));
    }
    assert.deepEqual(statements, Array(3).fill('read-change-position'));
    await rename('many7', 'Seven');
    stage.clock.advance(1_001);
    statements.length = 0;
    assert.equal((await find('many7'))?.name, 'Seven');
    for (const id of ids) await find(id);
    assert.deepEqual(statements, ['read-change-position', 'read-changed-merchants', 'find-merchant']);
  });

  it('asks ahead, so that no caller waits for the answer, and says so only once it is too old', async () => {
    await openMerchant(stage, 'steady');
    let isAway = false;
    const { database } = stage.recovery;
    const query: Query = (statement, values) =>
      isAway ? Promise.reject(new Error('away')) : database.query(statement, values);
    const { find } = openContractCache({ query }, () => new Date(stage.clock.now()));
    await find('steady');
    isAway = true;
    stage.clock.advance(900);
    assert.equal((await find('steady'))?.id, 'steady');
    stage.clock.advance(101);
    await assert.rejects(find('steady'), /away/);
    isAway = false;
    assert.equal((await find('steady'))?.id, 'steady');
  });

  it('returns a change by another core within a second, even one committed while the merchant was read', async () => {
    await openMerchant(stage, 'moves');
    const { database } = stage.recovery;
    let meanwhile: (() => Promise<void>) | undefined = () => rename('moves', 'Second');
    const query: Query = async <Row extends object>(statement: Statement, values: readonly unknown[]) => {
      const rows = await database.query<Row>(statement, values);
      if (statement.name !== 'find-merchant') return rows;
      await meanwhile?.();
      meanwhile = undefined;
      return rows;
    };
    const { find } = openContractCache({ query }, () => new Date(stage.clock.now()));
    const first = (await find('moves'))?.name;
    assert.notEqual(first, 'Second');
    stage.clock.advance(1_001);
    assert.equal((await find('moves'))?.name, 'Second');
  });

  it('asks again when an answer has come so late that it is too old itself', async () => {
    await openMerchant(stage, 'late');
    const { database } = stage.recovery;
    let held: Promise<void> | undefined;
    const query: Query = async <Row extends object>(statement: Statement, values: readonly unknown[]) => {
      const rows = await database.query<Row>(statement, values);
      await held;
      return rows;
    };
    const { find } = openContractCache({ query }, () => new Date(stage.clock.now()));
    await find('late');
    stage.clock.advance(600);
    const answer = Promise.withResolvers<void>();
    held = answer.promise;
    await find('late');
    await rename('late', 'Renamed');
    stage.clock.advance(2_000);
    const found = find('late');
    held = undefined;
    answer.resolve();
    assert.equal((await found)?.name, 'Renamed');
  });

  it('reads all again when the database has gone back in time', async () => {
    await openMerchant(stage, 'restored');
    await rename('restored', 'Later');
    const { find } = openCounted(stage);
    assert.equal((await find('restored'))?.name, 'Later');
    await sql(
      stage,
      "update merchant set name = 'Earlier', change_number = (select min(change_number) from merchant) where id = 'restored'",
    );
    stage.clock.advance(1_001);
    assert.equal((await find('restored'))?.name, 'Earlier');
  });

  it('forgets a merchant that this process has changed, and never remembers an unknown one', async () => {
    const { find, forget } = openCounted(stage);
    assert.equal(await find('nobody'), undefined);
    await openMerchant(stage, 'nobody');
    assert.equal((await find('nobody'))?.id, 'nobody');
    await rename('nobody', 'Somebody');
    assert.notEqual((await find('nobody'))?.name, 'Somebody');
    forget('nobody');
    assert.equal((await find('nobody'))?.name, 'Somebody');
  });
});
