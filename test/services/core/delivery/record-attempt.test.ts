import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { type MadeAttempt, openRecord } from '../../../../services/core/delivery/record-attempt.ts';
import type { Database, Query } from '../../../../services/core/storage/database.ts';
import { replayOne } from '../../../../services/core/storage/delivery/make-due-again.ts';
import { forSuite } from '../../../suite.ts';
import { openDeliveryStage } from './stage.ts';

describe('openRecord()', () => {
  const stage = forSuite(openDeliveryStage);

  /** A database at a distance: each statement takes some milliseconds. */
  const distant = (database: Database): Database => {
    const slowed = (query: Query): Query => {
      return async (statement, values) => {
        await delay(10);
        return query(statement, values);
      };
    };
    const transaction: Database['transaction'] = (run) => database.transaction((query) => run(slowed(query)));
    return { ...database, query: slowed(database.query), transaction };
  };

  it('records a success in time beside failures at many endpoints, and the state of each', async () => {
    const record = openRecord(distant(stage.database), stage.clock, stage.log, () => undefined);
    const time = stage.clock().toISOString();
    const attempt = async (merchantId: string, isFailing: boolean): Promise<MadeAttempt> => {
      const id = await stage.addDelivery(merchantId);
      const common = { deliveryId: id, number: 1, retryBase: 0, startedAt: time, endedAt: time, latencyMs: 1 };
      return {
        endpoint: { merchantId, kind: 'webhook' },
        endpointUrl: null,
        verdict: isFailing ? 'FAILING' : 'HEALTHY',
        troubled: false,
        record: isFailing
          ? { ...common, error: 'HTTP 500', httpStatus: 500, state: 'PENDING', dueAt: time }
          : { ...common, httpStatus: 200, state: 'DELIVERED' },
      };
    };
    const failing = await Promise.all(Array.from({ length: 300 }, (_, index) => attempt(`f${index}`, true)));
    const healthy = await attempt('healthy', false);
    const startedMs = performance.now();
    await Promise.all([...failing, healthy].map(record));
    assert(performance.now() - startedMs < 2_000, `took ${performance.now() - startedMs} ms`);
    assert.equal((await stage.deliveryOf(healthy.record.deliveryId)).state, 'DELIVERED');
    const states = await stage.sql('select distinct pause, failure_count, pause_count from endpoint');
    assert.deepEqual(states, [{ pause: null, failureCount: 1, pauseCount: 0 }]);
  });

  it('leaves a delivery due that was replayed during its last attempt', async () => {
    const record = openRecord(stage.database, stage.clock, stage.log, () => undefined);
    const id = await stage.addDelivery('replayed');
    await stage.sql('update delivery set attempt_count = 9 where id = $1', [id]);
    await replayOne(stage.database.query, id, stage.clock());
    const time = stage.clock().toISOString();
    const times = { startedAt: time, endedAt: time, latencyMs: 1 };
    await record({
      endpoint: { merchantId: 'replayed', kind: 'webhook' },
      endpointUrl: null,
      verdict: 'FAILING',
      troubled: false,
      record: { deliveryId: id, number: 10, retryBase: 0, ...times, error: 'HTTP 500', httpStatus: 500, state: 'DEAD' },
    });
    const { state, attemptCount, dueAt } = await stage.deliveryOf(id);
    assert.deepEqual([state, attemptCount, dueAt], ['PENDING', 10, stage.clock()]);
  });
});
