import assert from 'node:assert/strict';
import { bookTakenBack } from '../../../../services/core/storage/capture/take-back.ts';
import { reserveCaptures, settleCaptures } from '../../../../services/core/storage/capture/write-captures.ts';
import type { Database, Query, Statement } from '../../../../services/core/storage/database.ts';
import { recordAttempts } from '../../../../services/core/storage/delivery/record-attempts.ts';
import { insertHolds, settleHolds } from '../../../../services/core/storage/hold/write-holds.ts';
import { acceptNotifications } from '../../../../services/core/storage/notification/accept-notifications.ts';
import { settleOcts } from '../../../../services/core/storage/oct/write-octs.ts';
import { openDatabase } from '../../../../services/core/storage/open-database.ts';
import { ORM } from '../../../../services/core/storage/orm.ts';
import { reserveReleases, settleReleases } from '../../../../services/core/storage/release/write-releases.ts';
import { createMigratedDatabase, type TestDatabase } from '../../../database.ts';

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
  let database: Database;
  before(async () => {
    test = await createMigratedDatabase();
    database = await openDatabase({ databaseUrl: test.url, poolSize: 1 });
  });
  after(async () => {
    await database.close();
    await test.drop();
  });

  it('makes every statement of the hot path find its rows by an index, even when it is planned on empty tables', async () => {
    for (const statement of await hotStatements()) {
      const whole = nodes(await planOf(statement)).filter((node) => node['Relation Name'] && isWholeRead(node));
      assert.deepEqual(whole, [], `${statement.name} reads a whole table`);
    }
  });

  /** Returns the generic plan of a prepared statement. EXPLAIN accepts a statement with parameters only as plain text. */
  async function planOf({ text }: Statement): Promise<PlanNode> {
    const rows = await database[ORM].em.getConnection().execute(`explain (generic_plan, format json) ${text}`);
    return rows[0]?.['QUERY PLAN'][0].Plan;
  }
});

function nodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

function isWholeRead(node: PlanNode): boolean {
  return /Scan$/.test(node['Node Type']) && node['Index Cond'] === undefined;
}

/** Collects the statements from the functions that send them. */
async function hotStatements(): Promise<Statement[]> {
  const statements: Statement[] = [];
  const query: Query = async (statement) => {
    statements.push(statement);
    return [];
  };
  const one = {} as never;
  await insertHolds(query, []);
  await settleHolds(query, []);
  await reserveCaptures(query, []);
  await settleCaptures(query, []);
  await reserveReleases(query, []);
  await settleReleases(query, []);
  await bookTakenBack(query, one);
  await settleOcts(query, []);
  await acceptNotifications(query, [one]);
  await recordAttempts(query, []);
  return statements;
}
