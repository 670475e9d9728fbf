import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { EndpointKind, NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

const HOUR_MS = 3_600_000;

describe('RecoverDeliveries', () => {
  const stage = forSuite(openStage);

  it('makes due now what was not delivered in a time, of one merchant or of all, and nothing else', async () => {
    const operator = stage.client('operator', NotificationService);
    const [acme, other] = await Promise.all(
      ['acme', 'other'].map((name) => openMerchant(stage, name, { webhookUrl: 'https://merchant.example' })),
    );
    assert(acme && other);
    const now = stage.clock.now();
    // Identifiers contain the machine's time, not the stage's.
    const realMs = Date.now();
    const states = {
      waiting: 'PENDING',
      dead: 'DEAD',
      delivered: 'DELIVERED',
      old: 'DEAD',
      purged: 'DEAD',
      worn: 'DEAD',
    };
    const ids: Record<string, string> = {};
    for (const [name, state] of Object.entries(states)) {
      const { requestId } = await acme.hold();
      ids[name] = requestId;
      const createdAt = new Date(realMs - (name === 'old' ? 3 * HOUR_MS : 0));
      const dueAt = state === 'PENDING' ? new Date(now + 6 * HOUR_MS) : null;
      await sql(
        stage,
        `update delivery set state = $2, due_at = $3, created_at = $4, attempt_count = $5, retry_base = 0,
          body = case when $6 then null else body end where request_id = $1`,
        [requestId, state, dueAt, createdAt, name === 'worn' ? 200 : 4, name === 'purged'],
      );
    }
    await other.hold();
    await sql(stage, "update delivery set state = 'DEAD', due_at = null, created_at = $1 where merchant_id = 'other'", [
      new Date(realMs),
    ]);
    const since = timestampFromMs(realMs - HOUR_MS);
    assert.equal((await operator.recoverDeliveries({ merchantId: 'acme', since, until: since })).count, 0);
    const endpointKind = EndpointKind.INTERNAL;
    assert.equal((await operator.recoverDeliveries({ merchantId: 'acme', since, endpointKind })).count, 0);
    assert.equal((await operator.recoverDeliveries({ merchantId: 'acme', since })).count, 2);
    const due = await sql<{ request_id: string; retry_base: number; due_at: Date }>(
      stage,
      "select request_id, retry_base, due_at from delivery where due_at is not null and merchant_id = 'acme' " +
        'order by retry_base',
    );
    // The dead one begins a new schedule.
    assert.deepEqual(
      due.map((each) => [each.request_id, each.retry_base, each.due_at.getTime()]),
      [
        [ids.waiting, 0, now],
        [ids.dead, 4, now],
      ],
    );
    // Those of acme are due already.
    assert.equal((await operator.recoverDeliveries({ since })).count, 1);
    assert.equal(await why(operator.recoverDeliveries({})), 'INVALID_REQUEST');
  });
});
