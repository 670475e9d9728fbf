import assert from 'node:assert/strict';
import type { MadeAttempt } from '../../../../services/core/delivery/make-attempt.ts';
import { openRecord } from '../../../../services/core/delivery/record-attempt.ts';
import type { Database, Query } from '../../../../services/core/storage/database.ts';
import { forSuite } from '../../../suite.ts';
import { openDeliveryStage } from './stage.ts';

describe('openRecord()', () => {
  const stage = forSuite(openDeliveryStage);

  it('records a success in time beside failures at many endpoints, and the state of each', async () => {
    let statements = 0;
    const counting = (query: Query): Query => {
      return (statement, values) => {
        statements += 1;
        return query(statement, values);
      };
    };
    const { database } = stage;
    const transaction: Database['transaction'] = (run) => database.transaction((query) => run(counting(query)));
    const counted = { ...database, query: counting(database.query), transaction };
    const record = openRecord(counted, stage.clock, stage.log, () => undefined);
    const time = stage.clock().toISOString();
    const attempt = async (merchantId: string, isFailing: boolean): Promise<MadeAttempt> => {
      const id = await stage.addDelivery(merchantId);
      const common = { deliveryId: id, number: 1, wasDueAt: time, startedAt: time, endedAt: time, latencyMs: 1 };
      return {
        delivery: { requestId: id, kind: 'payment', statusInfo: 'captured', signature: null },
        endpoint: { merchantId, endpointId: 'webhook' },
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
    await Promise.all([...failing, healthy].map(record));
    assert(statements < 30, `${statements} statements for 300 endpoints`);
    assert.equal((await stage.deliveryOf(healthy.record.deliveryId)).state, 'DELIVERED');
    const states = await stage.sql('select distinct pause, failure_count, pause_count from endpoint');
    assert.deepEqual(states, [{ pause: null, failureCount: 1, pauseCount: 0 }]);
  });
});
