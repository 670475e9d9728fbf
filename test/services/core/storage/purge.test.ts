import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { acceptNotifications } from '../../../../services/core/storage/notification/insert-accepted.ts';
import { insertVerificationFailures } from '../../../../services/core/storage/notification/verification-failure.ts';
import { openPurge } from '../../../../services/core/storage/purge.ts';
import { forSuite } from '../../../suite.ts';
import { openDeliveryStage, storedNotification } from '../delivery/stage.ts';

const DAY_MS = 86_400_000;
/** The time at which everything here was written, independent of the machine's clock and of generated ids. */
const WRITTEN_MS = Date.parse('2030-01-01T00:00:00Z');
const writtenId = () => uuidv7({ msecs: WRITTEN_MS });
const afterDays = (days: number) => new Date(WRITTEN_MS + days * DAY_MS);

describe('openPurge()', () => {
  const stage = forSuite(openDeliveryStage);

  before(async () => {
    await stage.addMerchant('m', 'http://127.0.0.1:1');
  });

  const notification = (change: object = {}) => {
    const written = { deliveryId: writtenId(), quarantineId: writtenId(), receivedAt: afterDays(0).toISOString() };
    return storedNotification('r', { ...written, ...change });
  };

  it('deletes old deliveries that are finished, empties old bodies, and remembers duplicates for ever', async () => {
    const { query } = stage.database;
    const [ended, waiting] = [writtenId(), writtenId()];
    for (const id of [ended, waiting]) {
      await stage.sql('update delivery set id = $1 where id = $2', [id, await stage.addDelivery('m')]);
    }
    await stage.sql("update delivery set state = 'DELIVERED', due_at = null where id = $1", [ended]);
    for (const id of [ended, waiting]) {
      await stage.sql(
        `insert into delivery_attempt (delivery_id, number, merchant_id, started_at, latency_ms, response_head)
          values ($1, 1, 'm', now(), 1, 'thanks')`,
        [id],
      );
    }
    await acceptNotifications(query, [notification()]);
    await acceptNotifications(query, [notification({ amount: '2' })]);
    const counts = async () => {
      const [row] = await stage.sql<Record<string, bigint>>(`select
        (select count(*) from delivery) as deliveries, (select count(*) from delivery_attempt) as attempts,
        (select count(*) from notification where body is not null) as notifications,
        (select count(*) from quarantined_notification where body is not null) as quarantined`);
      return Object.values(row ?? {}).map(Number);
    };
    const purge = openPurge(stage.database, { notifications: 90, operations: 400 });
    // Partitions that the migration made are long over.
    await purge(afterDays(0));
    assert.equal(await purge(afterDays(89)), 0);
    assert.deepEqual(await counts(), [3, 2, 1, 1]);
    const changed = await purge(afterDays(91));
    assert.deepEqual(await counts(), [2, 1, 0, 0], 'what waits for an attempt stays');
    assert.equal(changed, 4);
    assert.deepEqual(await stage.attemptsOf(ended), []);
    assert.equal((await stage.attemptsOf(waiting))[0]?.responseHead, 'thanks');
    assert.equal((await stage.deliveryOf(waiting)).state, 'PENDING');
    assert.equal((await acceptNotifications(query, [notification()]))[0]?.outcome, 'DUPLICATE');
  });

  it('deletes tokens that checkouts generated, and nothing else of their holds', async () => {
    const requestId = uuidv7();
    await stage.sql(
      `insert into hold (request_id, merchant_id, terminal_id, user_id, status, phase, amount, amount_asked, processor,
          processor_account, currency, captured, in_flight, remaining,
          released, reversed, closing, frozen, id_hash, id_key, allow_multiple_captures, notify_holds, hold_period_s,
          save_card,
          card_last4, generated_token_id, created_at, placed_at, expires_at, inquiry_count)
        values ($1, 'm', 't', 'u', 'IN_PROGRESS', 'AUTHORIZED', 1, 1, 'p', '', 'EUR', 0, 0, 1, 0, 0, false, false, '',
        '', true, true, 60, true,
          '4242', 'tok_saved', $2, $2, $2, 0)`,
      [requestId, afterDays(0)],
    );
    const kept = async () => {
      const text = 'select generated_token_id as token, card_last4 as last4, remaining from hold where request_id = $1';
      const [row] = await stage.sql<{ token: string | null; last4: string; remaining: bigint }>(text, [requestId]);
      return row;
    };
    const purge = openPurge(stage.database, { notifications: 90, operations: 400 });
    await purge(afterDays(89));
    assert.deepEqual(await kept(), { token: 'tok_saved', last4: '4242', remaining: 1n });
    assert.equal(await purge(afterDays(91)), 1);
    assert.deepEqual(await kept(), { token: null, last4: '4242', remaining: 1n });
    assert.equal(await purge(afterDays(91)), 0);
  });

  it('deletes ended sessions a day after they would have expired', async () => {
    await stage.sql(
      `insert into ended_session (session_hash, expires_at, change_number)
      values ('\\x01', $1::timestamptz - interval '25 hours', 1), ('\\x02', $1::timestamptz - interval '23 hours', 2)`,
      [stage.clock()],
    );
    await openPurge(stage.database, { notifications: 90, operations: 400 })(stage.clock());
    const left = await stage.sql<{ hash: string }>(`select encode(session_hash, 'hex') as hash from ended_session`);
    assert.deepEqual(
      left.map(({ hash }) => hash),
      ['02'],
    );
    await stage.sql('delete from ended_session');
  });

  it('deletes idempotency keys of settled operations and expired nonces', async () => {
    await stage.sql('delete from claim');
    const [settled, cancelling, releasing] = [uuidv7(), uuidv7(), uuidv7()];
    for (const [key, id] of [
      ['settled', settled],
      ['open', uuidv7()],
      ['cancelled checkout', cancelling],
      ['open release', releasing],
    ]) {
      await stage.sql(
        "insert into claim (merchant_id, key, method, fingerprint, request_id, created_at) values ('m', $1, " +
          "'CAPTURE', '', $2, $3)",
        [key, id, afterDays(0)],
      );
    }
    await stage.sql(
      `insert into operation (request_id, kind, status, status_info, merchant_id, terminal_id, user_id, amount,
        currency, final_state_date)
        values ($1, 'CAPTURE', 'OK', 'captured', 'm', 't', 'u', 1, 'EUR', now())`,
      [settled],
    );
    // Cancelling a checkout has no result of its own: the hold's result counts.
    for (const [id, state] of [
      [cancelling, 'OK'],
      [releasing, 'UNKNOWN'],
    ]) {
      await stage.sql(
        `insert into submission (request_id, hold_request_id, merchant_id, kind, state, amount, currency, processor,
          processor_account, created_at, final_at, inquiry_count)
          values ($1, $2, 'm', 'RELEASE', $3, 0, 'EUR', 'p', '', $4, case when $3 = 'OK' then $4::timestamptz end, 0)`,
        [id, uuidv7(), state, afterDays(0)],
      );
    }
    await stage.sql("insert into signature_nonce values ('m', 'n', $1)", [afterDays(0)]);
    const purge = openPurge(stage.database, { notifications: 90, operations: 3_650 });
    await purge(afterDays(-1));
    assert.equal(await purge(afterDays(-1)), 0);
    assert.equal(await purge(afterDays(8)), 3);
    const keys = await stage.sql<{ key: string }>('select key from claim where key is not null order by key');
    assert.deepEqual(
      keys.map(({ key }) => key),
      ['open', 'open release'],
    );
  });
});

describe('insertVerificationFailures()', () => {
  const stage = forSuite(openDeliveryStage);

  it('keeps only the newest', async () => {
    const failures = Array.from({ length: 30 }, () => ({
      id: uuidv7(),
      failedAt: new Date().toISOString(),
      reason: 'WRONG_SIGNATURE',
      kind: 'payment' as const,
      statusInfo: 'captured',
      claimedMerchantId: 'm',
      address: '192.0.2.1',
      bodyBytes: 1,
      bodySha256: 'ab'.repeat(32),
      signatureSha256Prefix: '',
      explain: null,
    }));
    await insertVerificationFailures(stage.database.query, failures, 10);
    const rows = await stage.sql<{ id: string }>('select id from verification_failure order by id');
    assert.deepEqual(
      rows.map(({ id }) => id),
      failures.slice(-10).map(({ id }) => id),
    );
  });
});
