/** Each row of the table in docs/interfaces.md, "When nobody knows", with core, or its database, really frozen. */
import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { effectOf } from '../../../gateway/http/route.ts';
import { sql } from '../../services/core/shop.ts';
import type { Stage } from '../../services/core/stage.ts';
import { forSuite } from '../../suite.ts';
import { type Answer, openFreezable } from '../freezable.ts';
import { CHANGING, type Prepared, prepare, send } from './cases.ts';

/** What requests change, without what only remembers that they came. */
const TABLES = [
  'api_key',
  'contradiction',
  'delivery',
  'ended_session',
  'endpoint',
  'endpoint_secret',
  'hold',
  'merchant',
  'notification',
  'operation',
  'quarantined_notification',
  'relay_key',
  'relay_sender',
  'signing_secret',
  'submission',
  'webhook_endpoint',
];

const named = (effect: string) => [...CHANGING].filter(([, route]) => effectOf(route) === effect).map(([name]) => name);
const OPERATIONS = named('OPERATION');
/** The sender of a notification sends it again, whatever became of it. */
const CHANGES = named('CHANGE').filter((name) => !/^relay(Sender)?Notification$/.test(name));

describe('a request that changes something', () => {
  const service = forSuite(() => openFreezable(3_000));

  /** One after another, as a busy machine would take longer for all of them at once than a call may. */
  const prepareAll = async (names: readonly string[]): Promise<Prepared[]> => {
    const requests: Prepared[] = [];
    for (const name of names) requests.push(await prepare(service, name));
    return requests;
  };
  const sendAll = (requests: readonly Prepared[]) =>
    Promise.all(
      requests.map(async (request): Promise<[string, Answer]> => [request.name, await send(service, request)]),
    );

  /** Core takes calls in their order: once it answers this one, it has done what it does with those before. */
  const settled = async () => {
    while ((await service.ask('GET', '/contract')).status !== 200);
    await untilIdle(service.stage);
  };

  for (const [what, freeze] of [
    ['core', () => service.freezeCore()],
    ['the database', () => service.freezeDatabase()],
  ] as const) {
    /** One that finds no connection to the database is refused: nothing was stored, and nobody is in doubt. */
    const inDoubt = (answers: [string, Answer][]) => {
      const found = answers.filter(([, { status }]) => what === 'core' || status !== 503);
      assert(found.length >= answers.length / 2, `${found.length} of ${answers.length} in doubt`);
      return found;
    };

    it(`is unknown while ${what} is frozen, and nothing is changed once its answer is given`, async () => {
      const requests = await prepareAll(CHANGES);
      // Last: core closes connections that were idle for a while.
      if (what === 'the database') await service.openConnections();
      const before = await stored(service.stage);
      const wake = await freeze();
      const answers = await sendAll(requests);
      await wake();
      for (const [name, { status, body }] of inDoubt(answers)) {
        assert.deepEqual([status, body.code], [504, 'OUTCOME_UNKNOWN'], `${name}: ${JSON.stringify(body)}`);
      }
      await settled();
      assert.deepEqual(await stored(service.stage), before);
    });

    it(`makes one operation under its key, after ${what} was frozen`, async () => {
      const keyed = (await prepareAll(OPERATIONS)).map((request): Prepared => {
        return { ...request, headers: { ...request.headers, 'idempotency-key': uuidv7() } };
      });
      const unkeyed = await prepareAll(OPERATIONS);
      if (what === 'the database') await service.openConnections();
      const wake = await freeze();
      const [answers, others] = await Promise.all([sendAll(keyed), sendAll(unkeyed)]);
      await wake();
      for (const [name, { status, body }] of inDoubt(answers)) {
        assert.deepEqual([status, body.code, body.requestId], [409, 'IDEMPOTENCY_IN_FLIGHT', undefined], name);
      }
      for (const [name, { status, body }] of inDoubt(others)) {
        assert.deepEqual([status, body.status, typeof body.requestId], [202, 'IN_PROGRESS', 'string'], name);
      }
      await settled();
      for (const request of keyed) {
        const { name, merchantId } = request;
        const [first, second] = [await send(service, request), await send(service, request)];
        assert([200, 201].includes(first.status), `${name}: ${JSON.stringify(first)}`);
        assert.deepEqual(second.body, first.body, name);
        const text = 'select from claim where merchant_id = $1 and key is not null';
        assert.equal((await sql(service.stage, text, [merchantId])).length, 1, name);
      }
    });
  }

  it('is a duplicate when a notification is sent again, and forwarded once', async () => {
    const request = await prepare(service, 'relayNotification');
    const wake = await service.freezeCore();
    const during = await send(service, request);
    await wake();
    const again = [await send(service, request), await send(service, request)];
    assert.deepEqual(
      [during, ...again].map(({ status }) => status),
      [503, 200, 200],
    );
    const { requestId } = request.body as { requestId: string };
    const forwarded = await sql(service.stage, 'select from delivery where request_id = $1', [requestId]);
    assert.equal(forwarded.length, 1);
  });

  for (const [name, route] of CHANGING) {
    it(`changes it, and its answer says so, while all is well: ${name}`, async () => {
      const request = await prepare(service, name);
      const before = await stored(service.stage);
      const { status, body } = await send(service, request);
      assert(status in route.answers, JSON.stringify(body));
      assert.notDeepEqual(await stored(service.stage), before);
    });
  }
});

/** Every row of the tables, as text. */
async function stored(stage: Stage): Promise<Record<string, string[]>> {
  const rows = await Promise.all(
    TABLES.map(async (table) => {
      const found = await sql<{ row: string }>(stage, `select t::text as row from ${table} t order by 1`);
      return [table, found.map(({ row }) => row)] as const;
    }),
  );
  return Object.fromEntries(rows);
}

/** Waits until no session of the database is in a transaction or waits for an answer. */
async function untilIdle(stage: Stage): Promise<void> {
  const busy = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
    and backend_type = 'client backend' and state <> 'idle'`;
  while ((await sql(stage, busy)).length > 0);
}
