import assert from 'node:assert/strict';
import type { OrmDatabase, Query, Statement } from '../../../../services/core/storage/database.ts';
import { replayRange } from '../../../../services/core/storage/delivery/make-due-again.ts';
import { recordAttempts } from '../../../../services/core/storage/delivery/record-attempts.ts';
import { takeDue } from '../../../../services/core/storage/delivery/take-due.ts';
import { HOT_STATEMENTS } from '../../../../services/core/storage/hot-statements.ts';
import { acceptNotifications } from '../../../../services/core/storage/notification/insert-accepted.ts';
import { openDatabase } from '../../../../services/core/storage/open-database.ts';
import { ORM } from '../../../../services/core/storage/orm.ts';
import { openPurge } from '../../../../services/core/storage/purge.ts';
import { createMigratedDatabase, type TestDatabase } from '../../../database.ts';
import { storedNotification } from '../delivery/stage.ts';

/** A node of a plan in the output of EXPLAIN (FORMAT JSON). */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

describe('byIndex()', () => {
  let test: TestDatabase;
  let database: OrmDatabase;
  before(async () => {
    test = await createMigratedDatabase();
    database = await openDatabase({ databaseUrl: test.url, poolSize: 1 });
  });
  after(async () => {
    await database.close();
    await test.drop();
  });

  it('makes every statement of the hot path find its rows by an index, also when planned on empty tables', async () => {
    for (const statement of await hotStatements()) {
      const whole = nodes(await planOf(statement)).filter(isWholeRead);
      assert.deepEqual(whole, [], `${statement.name} reads a whole table`);
    }
  });

  it('makes the purge look up the results of the keys that it forgets, instead of reading all results', async () => {
    const [forget] = await sentBy(
      (query) => openPurge({ ...database, query }, { notifications: 90, operations: 400 })(new Date()),
      'forget-idempotency-keys',
    );
    assert(forget);
    assert.deepEqual(nodes(await planOf(forget)).filter(isWholeRead), []);
  });

  it('makes a replay begin at its range, however much is older', async () => {
    const range = { merchantId: 'm', endpoint: null, state: 'DELIVERED', maxCount: 1, perSecond: 1 } as const;
    const times = { createdFrom: new Date(), createdTo: null };
    const [replay] = await sentBy(
      (query) => replayRange(query, { ...range, ...times }, new Date()),
      'replay-deliveries',
    );
    assert(replay);
    const found = nodes(await planOf(replay)).filter((node) => /merchant_id/.test(node['Index Cond'] ?? ''));
    assert(found.length > 0 && found.every((node) => /\bid >= /.test(node['Index Cond'] ?? '')));
  });

  it('leaves only the primary key to find deliveries by their id', async () => {
    for (const statement of await hotStatements()) {
      const byId = nodes(await planOf(statement)).filter((node) => /\bid = ANY/.test(node['Index Cond'] ?? ''));
      const others = byId.map((node) => node['Index Name'] ?? '').filter((name) => !name.endsWith('_pkey'));
      assert.deepEqual(others, [], `${statement.name} finds ids by another index`);
    }
  });

  /**
   * Returns the generic plan of a prepared statement. EXPLAIN accepts a statement with parameters only as plain text.
   */
  async function planOf({ text }: Statement): Promise<PlanNode> {
    const rows = await database[ORM].em.getConnection().execute(`explain (generic_plan, format json) ${text}`);
    return rows[0]?.['QUERY PLAN'][0].Plan;
  }
});

function nodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

/** Reads of tables; the rows of a bitmap are those of the indexes below it. */
function isWholeRead(node: PlanNode): boolean {
  const isOfTable = node['Relation Name'] !== undefined || node['Index Name'] !== undefined;
  const isScan = /Scan$/.test(node['Node Type']) && node['Node Type'] !== 'Bitmap Heap Scan';
  return isOfTable && isScan && node['Index Cond'] === undefined;
}

/** The statements of a name that a function sends. */
async function sentBy(send: (query: Query) => Promise<unknown>, name: string): Promise<Statement[]> {
  const statements: Statement[] = [];
  await send(async (statement) => {
    statements.push(statement);
    return [];
  });
  return statements.filter((statement) => statement.name === name);
}

/** Collects the statements from the functions that send them. */
async function hotStatements(): Promise<Statement[]> {
  const statements: Statement[] = [...HOT_STATEMENTS];
  const query: Query = async (statement) => {
    statements.push(statement);
    return [];
  };
  await acceptNotifications(query, [storedNotification('any')]);
  await takeDue(query, [], new Date());
  await recordAttempts(query, []);
  return statements;
}
