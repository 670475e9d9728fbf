/** Whether merchants are told of everything by notifications. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import type { Merchants, Scene } from '../play.ts';

/** Each operation has a delivery, which may still be under way. */
export async function deliveryStored({ stage }: Scene<Deployment, Merchants>): Promise<string> {
  const [row] = await stage.sql<{ untold: number; operations: number }>(STORED);
  assert.equal(row?.untold, 0, 'each operation has its delivery');
  return `${row?.operations} operations, each with its delivery`;
}

const STORED = `select (select count(*) from operation o
    where not exists (select from delivery d where d.request_id = o.request_id::text))::int as untold,
  (select count(*) from operation)::int as operations`;

/** The merchant's receiver has acknowledged every operation, after a minute at most. */
export async function notified({ stage }: Scene<Deployment, Merchants>): Promise<string> {
  const startedMs = performance.now();
  for (;;) {
    const operations = await stage.sql<{ request_id: string }>('select request_id from operation');
    const untold = operations.filter(({ request_id }) => !stage.received.has(request_id));
    const tookMs = performance.now() - startedMs;
    if (untold.length === 0) return `the merchant was told of all ${operations.length} after ${Math.round(tookMs)} ms`;
    assert(tookMs < NOTIFIED_WITHIN_MS, `the merchant was not notified of ${untold.length} operations`);
    await delay(200);
  }
}

const NOTIFIED_WITHIN_MS = 60_000;
