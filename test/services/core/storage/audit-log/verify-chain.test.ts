import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { auditEnds, audited, auditStarts } from '../../../../../services/core/storage/audit-log/audit-log.ts';
import { type ChainHead, verifyChain } from '../../../../../services/core/storage/audit-log/verify-chain.ts';
import type { OrmDatabase } from '../../../../../services/core/storage/database.ts';
import { openDatabase } from '../../../../../services/core/storage/open-database.ts';
import { loadMigration, treeMigrations } from '../../../../../services/core/storage/tree-migrations.ts';
import { createMigratedDatabase, type TestDatabase } from '../../../../database.ts';

const AT = new Date('2026-11-28T12:00:00Z');
const WITHOUT_TRIGGER = ['alter table audit_entry disable trigger all', 'alter table audit_entry enable trigger all'];

describe('verifyChain()', () => {
  let test: TestDatabase;
  let database: OrmDatabase;

  beforeEach(async () => {
    test = await createMigratedDatabase();
    database = await openDatabase({ databaseUrl: test.url, poolSize: 8 });
  });

  afterEach(async () => {
    await database.close();
    await test.drop();
  });

  const run = (text: string) => database.query<{ id: string }>({ name: '', text }, []);
  const faults = async (kept?: ChainHead) => {
    const verified = await verifyChain(database.query, 100, kept);
    return verified.faults.map(({ at, expected, found }) => `${at}: expected ${expected}, found ${found}`);
  };
  const write = (target: string) =>
    audited(database, { at: AT, action: 'merchant.update', target, detail: { name: 'Ann' } }, async () => true);
  /** Does something to the log that leaves no link. */
  const behindItsBack = async (text: string) => {
    for (const statement of [WITHOUT_TRIGGER[0], text, WITHOUT_TRIGGER[1]]) await run(String(statement));
  };
  /** Three entries, the last with its result in a link of its own. Returns their ids. */
  const threeEntries = async () => {
    await write('acme');
    await write('bolt');
    const [id = ''] = await auditStarts(database.query, [{ at: AT, action: 'oct.create', target: 'acme' }]);
    await auditEnds(database.query, [{ id, end: { result: 'OK' } }]);
    return (await run('select id from audit_entry order by id')).map((row) => row.id);
  };

  it('accepts an empty log, entries, and the result of one', async () => {
    assert.deepEqual(await verifyChain(database.query, 1), { entries: 0, head: { number: 0n, hash: '' }, faults: [] });
    await threeEntries();
    const { entries, head, faults: found } = await verifyChain(database.query, 1);
    assert.deepEqual([entries, head.number, found], [3, 4n, []]);
    assert.match(head.hash, /^[0-9a-f]{64}$/);
    await write('later');
    assert.deepEqual(await faults(head), [], 'an earlier head is part of the chain');
  });

  it('accepts what many write at once', async () => {
    await Promise.all(Array.from({ length: 60 }, (_, index) => write(`m-${index}`)));
    const { entries, head, faults: found } = await verifyChain(database.query, 1);
    assert.deepEqual([entries, head.number, found], [60, 60n, []]);
  });

  it('leaves nothing of a transaction that is rolled back', async () => {
    await threeEntries();
    const failing = database.transaction(async (query) => {
      await auditStarts(query, [{ at: AT, action: 'oct.create', target: 'acme' }]);
      throw new Error('changed its mind');
    });
    await assert.rejects(failing, /changed its mind/);
    await write('later');
    assert.deepEqual(await faults(), []);
  });

  const CHANGES: Readonly<Record<string, string>> = {
    actor: "actor = 'operator/mallory'",
    action: "action = 'merchant.create'",
    target: "target = 'other'",
    time: "at = at + interval '1 millisecond'",
    detail: `detail = '{"name": "Bob"}'`,
    'detail that is gone': 'detail = null',
  };
  for (const [what, change] of Object.entries(CHANGES)) {
    it(`shows another ${what}, written with or without a link`, async () => {
      const [first] = await threeEntries();
      await behindItsBack(`update audit_entry set ${change} where id = '${first}'`);
      assert.deepEqual(await faults(), [`${first}: expected the entry as link 1 has it, found another content`]);
      await run(`update audit_entry set ${change} where id = '${first}'`);
      assert.deepEqual(await faults(), [`${first}: expected no change after its result, found one in link 5`]);
    });
  }

  it('shows an entry that is gone, alone or with its link', async () => {
    const [, second] = await threeEntries();
    await run(`delete from audit_entry where id = '${second}'`);
    assert.deepEqual(await faults(), [`${second}: expected the entry as link 2 has it, found no entry`]);
    await run('delete from audit_link where number = 2');
    assert.deepEqual(await faults(), ['link 3: expected link 2 before it, found none']);
    await run('update audit_link set number = number - 1 where number > 2');
    assert.deepEqual(await faults(), [
      'link 2: expected the hash of its content and of the link before, found another one',
      'link 3: expected the hash of its content and of the link before, found another one',
    ]);
  });

  it('shows an entry that was slipped in', async () => {
    const [first] = await threeEntries();
    const id = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
    await behindItsBack(
      `insert into audit_entry select '${id}', at, actor, action, 'other', detail from audit_entry where id = '${first}'`,
    );
    assert.deepEqual(await faults(), [`${id}: expected a link, found none`]);
  });

  it('shows by a head that was kept that the end was cut off, or everything made anew', async () => {
    await threeEntries();
    const { head } = await verifyChain(database.query, 1);
    await run("delete from audit_entry where target = 'acme' and action = 'oct.create'");
    await run('delete from audit_link where number > 2');
    assert.deepEqual(await faults(), [], 'the rest is whole');
    assert.deepEqual(await faults(head), [`link 4: expected hash ${head.hash}, found no link`]);
    await write('acme');
    await write('acme');
    const [lost] = await faults(head);
    assert.match(String(lost), RegExp(`^link 4: expected hash ${head.hash}, found hash [0-9a-f]{64}$`));
  });

  it('covers entries from before the chain, which the migration links, also those written meanwhile', async () => {
    await write('acme');
    const [started = ''] = await auditStarts(database.query, [{ at: AT, action: 'oct.create', target: 'acme' }]);
    await run('delete from audit_link');
    const known = (await treeMigrations()).find(({ name }) => name.endsWith('audit_chain'));
    assert(known);
    const [before = '', _trigger, meanwhile = ''] = (await loadMigration(known)).statements.slice(-3);
    await run(before);
    await behindItsBack(`update audit_entry set detail = '{"result": "OK"}' where id = '${started}'`);
    await behindItsBack(
      `insert into audit_entry select '${uuidv7()}', at, actor, action, target, detail from audit_entry limit 1`,
    );
    assert.equal((await faults()).length, 2);
    await run(meanwhile);
    const { head, faults: found } = await verifyChain(database.query, 1);
    assert.deepEqual([head.number, found], [4n, []]);
  });
});
