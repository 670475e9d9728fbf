import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { openDatabase } from '../../../../platform/adapter/postgres/database.ts';
import { migrate } from '../../../../platform/adapter/postgres/migrate.ts';
import { FOREIGN_CAPTURE, openOutbox, tell } from '../../../../platform/adapter/postgres/outbox.ts';
import { ENTRY_COLUMNS, FOREIGN_FIRST, LEDGER_TABLES } from '../../../../platform/adapter/postgres/tables.ts';
import { createDatabase } from '../../../database.ts';
import { forSuite } from '../../../suite.ts';

const sql = `CREATE TABLE entry (${ENTRY_COLUMNS}); ${LEDGER_TABLES}${FOREIGN_FIRST}`;
const SCHEMA = { name: 'ledger', lock: 1, orderLock: 2, migrations: [{ name: '1', sql }] };

describe('openOutbox()', () => {
  const opened = forSuite(async () => {
    const database = await createDatabase();
    await migrate(database.url, SCHEMA);
    const ledger = openDatabase(database.url, SCHEMA.name);
    return {
      query: ledger.query,
      async close() {
        await ledger.close();
        await database.drop();
      },
    };
  });

  it('takes what follows a capture by somebody else only once core has taken that', async () => {
    const { query } = opened;
    const outbox = openOutbox(query);
    const [charged, other] = [uuidv7(), uuidv7()];
    const captureRequestId = uuidv7();
    const end = (requestId: string) => ({
      eventId: `ended-${requestId}`,
      requestId,
      occurredAt: new Date(),
      event: { case: 'authorizationEnded', value: { requestId, end: 2, amount: 6_000n, reference: '' } } as const,
    });
    const value = { authorizationRequestId: charged, captureRequestId, amount: 4_000n, reference: '' };
    const capture = { case: 'foreignCapture', value } as const;
    const foreign = `${FOREIGN_CAPTURE}${captureRequestId}`;
    await tell(query, { eventId: foreign, requestId: charged, occurredAt: new Date(), event: capture });
    await tell(query, end(charged));
    await tell(query, end(other));
    const taken = async () => {
      await query('UPDATE event SET due_at = now() WHERE reported_at IS NULL');
      return outbox.takeDue(10);
    };
    const idsOf = (events: readonly { eventId: string }[]) => events.map(({ eventId }) => eventId).toSorted();
    const first = await taken();
    assert.deepEqual(idsOf(first), [`ended-${other}`, foreign].toSorted());
    for (const event of first) await outbox.settle(event, event.eventId !== foreign);
    const [again, ...more] = await taken();
    assert.deepEqual([again?.eventId, more], [foreign, []]);
    if (again) await outbox.settle(again, true);
    assert.deepEqual(idsOf(await taken()), [`ended-${charged}`]);
  });
});
