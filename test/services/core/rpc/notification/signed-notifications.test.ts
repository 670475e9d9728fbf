import assert from 'node:assert/strict';
import { openSignedNotifications } from '../../../../../services/core/rpc/notification/signed-notifications.ts';
import { openCipher } from '../../../../../services/core/storage/cipher.ts';
import type { Database, Query, Statement } from '../../../../../services/core/storage/database.ts';
import { openPool } from '../../../../../services/core/storage/open-pool.ts';
import { OPERATION_LOG } from '../../../../../services/core/storage/operation/operation-row.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant } from '../../shop.ts';
import { openStage } from '../../stage.ts';

describe('openSignedNotifications()', () => {
  const stage = forSuite(openStage);
  const acme = forSuite(() => openMerchant(stage, 'acme', { webhookUrl: 'https://merchant.example' }));
  let database: Database;
  before(async () => {
    database = await openPool({ databaseUrl: stage.settings.DATABASE_URL, poolSize: 2 });
  });
  after(() => database.close());

  /** Notifications of the stage's merchants, and the statements that they have made. */
  function open() {
    const statements: string[] = [];
    const query: Query = (statement: Statement, values) => {
      statements.push(statement.name);
      return database.query(statement, values);
    };
    const cipher = openCipher(stage.settings.ENCRYPTION_KEYS);
    return { statements, notifications: openSignedNotifications(query, cipher, () => new Date(stage.clock.now())) };
  }
  async function results(count: number) {
    const hold = await acme.hold();
    for (let index = 1; index < count; index++) await acme.capture(hold, 1n);
    return (await OPERATION_LOG.readOf(database.query, 'acme', 0n, 1_000)).filter(
      ({ requestId, holdRequestId }) => holdRequestId === hold.requestId || requestId === hold.requestId,
    );
  }
  /** What a stream does with a page. */
  async function stream({ notifications }: ReturnType<typeof open>, page: Awaited<ReturnType<typeof results>>) {
    const messages: unknown[] = [];
    for (const index of page.keys()) messages.push(await notifications.at('acme', page, index));
    return messages;
  }

  it('reads and signs each notification once, however many streams send it', async () => {
    const page = await results(30);
    const alone = open();
    const messages = await stream(alone, page);
    assert.equal(messages.filter((message) => message !== undefined).length, 30);
    const together = open();
    const all = await Promise.all(Array.from({ length: 100 }, () => stream(together, page)));
    assert.deepEqual(together.statements.toSorted(), alone.statements.toSorted());
    // Of 20 notifications at a time: their facts and the secrets.
    assert.equal(together.statements.length, 4);
    for (const each of all) for (const [index, message] of each.entries()) assert.equal(message, all[0]?.[index]);
  });

  it('reads only what is not read yet for a stream that is elsewhere in the log', async () => {
    const page = await results(4);
    const opened = open();
    await stream(opened, page.slice(0, 3));
    assert.equal(opened.statements.length, 2);
    await stream(opened, page.slice(1));
    assert.equal(opened.statements.length, 4);
  });

  it('reads again after a failure', async () => {
    const page = await results(2);
    let fails = true;
    const cipher = openCipher(stage.settings.ENCRYPTION_KEYS);
    const query: Query = (statement, values) =>
      fails ? Promise.reject(new Error('away')) : database.query(statement, values);
    const notifications = openSignedNotifications(query, cipher, () => new Date());
    await assert.rejects(notifications.at('acme', page, 1), /away/);
    fails = false;
    assert(await notifications.at('acme', page, 1));
  });
});
