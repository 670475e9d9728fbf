import assert from 'node:assert/strict';
import { AuditEntryEntity, type AuditEntryRow } from '../../../../services/core/storage/audit-log/audit-log.ts';
import type { OrmDatabase } from '../../../../services/core/storage/database.ts';
import { openDatabase } from '../../../../services/core/storage/open-database.ts';
import { entityManager } from '../../../../services/core/storage/orm.ts';
import { scanPage } from '../../../../services/core/storage/scan-page.ts';
import { createMigratedDatabase, type TestDatabase } from '../../../database.ts';

const idOf = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;

describe('scanPage()', () => {
  let test: TestDatabase;
  let database: OrmDatabase;
  before(async () => {
    test = await createMigratedDatabase();
    database = await openDatabase({ databaseUrl: test.url, poolSize: 1 });
    // Every tenth is rare, and the oldest is one.
    for (let number = 0; number <= 40; number++) await insert(number, number % 10 === 0 ? 'rare' : 'common');
  });
  after(async () => {
    await database.close();
    await test.drop();
  });

  const insert = (number: number, action: string) =>
    database.query(
      {
        name: 'insert',
        text: `insert into audit_entry (id, at, actor, action, target) values ($1, now(), '', $2, '')`,
      },
      [idOf(number), action],
    );
  const page = (
    after: string | undefined,
    scannedRows: number,
    action: string | undefined,
    em = entityManager(database),
  ) => {
    const indexed = after === undefined ? [] : [{ id: { $lt: after } }];
    const compared = action === undefined ? [] : [{ action }];
    const scan = { entity: AuditEntryEntity, key: 'id', indexed, compared, limit: 2 } as const;
    return scanPage<AuditEntryRow>(em, scan, scannedRows);
  };

  it('ends early, says where, and finds each row once', async () => {
    for (const scannedRows of [3, 10, 11, 100]) {
      const found: string[] = [];
      let pages = 0;
      for (let after: string | undefined; ; ) {
        const { rows, scannedTo } = await page(after, scannedRows, 'rare');
        found.push(...rows.map(({ id }) => id));
        pages++;
        after = rows.length === 2 ? rows.at(-1)?.id : scannedTo;
        if (after === undefined) break;
      }
      assert.deepEqual(found, [40, 30, 20, 10, 0].map(idOf), `${scannedRows} rows at a time`);
      assert(pages <= 41 / scannedRows + 4);
    }
  });

  it('compares nothing that an index finds', async () => {
    const { rows, scannedTo } = await page(undefined, 1, undefined);
    assert.deepEqual([rows.map(({ id }) => id), scannedTo], [[idOf(40), idOf(39)], undefined]);
  });

  it('finds no row again that it found while newer ones were added', async () => {
    const em = entityManager(database);
    const find = em.find.bind(em);
    em.find = (async (...asked: Parameters<typeof find>) => {
      for (let number = 41; number <= 60; number++) await insert(number, 'common');
      return find(...asked);
    }) as typeof em.find;
    const { rows, scannedTo } = await page(undefined, 5, 'rare', em);
    assert.deepEqual([rows.map(({ id }) => id), scannedTo], [[idOf(40)], idOf(40)]);
  });
});
