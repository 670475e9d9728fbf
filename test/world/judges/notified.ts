/** Whether merchants are told of everything by notifications. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import type { Merchants, Scene } from '../play.ts';
import { undeliveredOf } from './settled.ts';

/** Each operation has a delivery, which may still be under way. */
export async function deliveryStored({ stage }: Scene<Deployment, Merchants>): Promise<string> {
  const [row] = await stage.sql<{ untold: number; operations: number }>(STORED);
  assert.equal(row?.untold, 0, 'each operation has its delivery');
  return `${row?.operations} operations, each with its delivery`;
}

const STORED = `select (select count(*) from operation o
    where not exists (select from delivery d where d.request_id = o.request_id::text))::int as untold,
  (select count(*) from operation)::int as operations`;

/** The merchants' receiver has acknowledged every operation, and no delivery is left, after 90 s at most. */
export async function notified({ stage }: Scene<Deployment, Merchants>): Promise<string> {
  const startedMs = performance.now();
  for (;;) {
    const operations = await stage.sql<{ request_id: string }>('select request_id from operation');
    const untold = operations.filter(({ request_id }) => !stage.received.has(request_id));
    const left = await undeliveredOf(stage);
    const tookMs = performance.now() - startedMs;
    if (untold.length + left === 0)
      return `merchants were notified of all ${operations.length} operations ${Math.round(tookMs)} ms after the last`;
    assert(
      tookMs < NOTIFIED_WITHIN_MS,
      `merchants were not notified of ${untold.length} operations, first ${untold[0]?.request_id}; ${left} deliveries left`,
    );
    await delay(200);
  }
}

const NOTIFIED_WITHIN_MS = 90_000;
