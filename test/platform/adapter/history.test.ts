import assert from 'node:assert/strict';
import pg from 'pg';
import { type Database, openDatabase } from '../../../platform/adapter/postgres/database.ts';
import { completeSince } from '../../../platform/adapter/postgres/history.ts';
import { HISTORY_TABLE } from '../../../platform/adapter/postgres/tables.ts';
import { createDatabase, type TestDatabase } from '../../database.ts';

describe('completeSince()', () => {
  let made: TestDatabase;
  let database: Database;
  before(async () => {
    made = await createDatabase();
    database = openDatabase(made.url, 's');
    await database.query('CREATE SCHEMA s');
    await database.query(HISTORY_TABLE);
  });
  after(async () => {
    await database.close();
    await made.drop();
  });

  /** Runs a statement as a superuser in the same database. */
  async function asAdmin(text: string): Promise<void> {
    const url = new URL(process.env.TEST_DATABASE_ADMIN_URL ?? '');
    url.pathname = new URL(made.url).pathname;
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query(text).finally(() => client.end());
  }

  it('stays as it was made, and moves when the history is another', async () => {
    const first = await completeSince(database.query);
    assert.equal(first.doubt, undefined);
    assert.deepEqual(await completeSince(database.query), first);
    await database.query(`UPDATE ledger SET history = 'of another cluster'`);
    const restored = await completeSince(database.query);
    assert.equal(restored.doubt, 'restored');
    assert(restored.since > first.since);
    assert.deepEqual(await completeSince(database.query), { since: restored.since });
  });

  it('takes the timeline from the WAL, not from the last checkpoint, which may be of the one before', async () => {
    await asAdmin('REVOKE EXECUTE ON FUNCTION pg_control_checkpoint() FROM PUBLIC');
    assert.equal((await completeSince(database.query)).doubt, undefined);
    await asAdmin('GRANT EXECUTE ON FUNCTION pg_control_checkpoint() TO PUBLIC');
    const text = 'SELECT system_identifier, timeline_id FROM pg_control_system(), pg_control_checkpoint()';
    const [now] = await database.query<{ system_identifier: bigint; timeline_id: number }>(text);
    const [kept] = await database.query<{ history: string }>('SELECT history FROM ledger');
    assert.equal(kept?.history, `${now?.system_identifier} ${now?.timeline_id}`);
  });

  it('counts each start as a restore for a role that may not call pg_control_system()', async () => {
    const { since: before } = await completeSince(database.query);
    await asAdmin('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC');
    const first = await completeSince(database.query);
    const second = await completeSince(database.query);
    assert.deepEqual([first.doubt, second.doubt], ['history unknown', 'history unknown']);
    assert(before < first.since && first.since < second.since);
    await asAdmin('GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC');
    const { doubt, since } = await completeSince(database.query);
    assert.equal(doubt, 'restored', 'what was written without a history proves nothing');
    assert(since > second.since);
  });
});
