import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { v7 as uuidv7 } from 'uuid';
import type { EndpointId } from '../../services/core/storage/delivery/delivery-row.ts';
import { runningMs } from '../running-ms.ts';
import { bodyOf, ok, openDeliveryStage, openReceiver } from '../services/core/delivery/stage.ts';
import { forEachTest } from '../suite.ts';

const BACKLOG = 100_000;

/** Each test gives a failing endpoint a large backlog and measures a healthy one. */
describe('Deliverer beside failing endpoints', () => {
  const stage = forEachTest(openDeliveryStage);
  const receiver = forEachTest(openReceiver);
  const silent = forEachTest(openSilent);

  beforeEach(() => {
    stage.time.now = Date.now();
  });

  /** Creates due deliveries. */
  const addBacklog = async (merchantId: string, count: number, endpointId: EndpointId = 'webhook') => {
    const ids = Array.from({ length: count }, () => uuidv7());
    await stage.sql(
      `insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
        due_at, created_at)
        select id, $2, $5, id::text, 'payment', 'captured', $3, 'PENDING', 0, $4, $4 from unnest($1::uuid[]) id`,
      [ids, merchantId, Buffer.from(bodyOf(merchantId, 'r')), new Date(stage.time.now), endpointId],
    );
  };

  /** Measures how long single deliveries to a healthy endpoint take from announcement to arrival, in milliseconds. */
  const measure = async (merchantId: string, count: number) => {
    const latenciesMs: number[] = [];
    for (let index = 0; index < count; index++) {
      const arrived = Promise.withResolvers<void>();
      receiver.how.answer = (response) => {
        ok(response);
        arrived.resolve();
      };
      await stage.addDelivery(merchantId);
      const startedMs = runningMs();
      stage.announce([`${merchantId}/webhook`]);
      await arrived.promise;
      latenciesMs.push(runningMs() - startedMs);
    }
    return latenciesMs.sort((a, b) => a - b);
  };

  it('attempts a delivery immediately after it is announced', async () => {
    await stage.addMerchant('well', receiver.url);
    stage.openDeliverer().start(stage.url);
    const latenciesMs = await measure('well', 30);
    // What is not announced waits for the next look, 500 ms after the one that found the delivery before.
    assert((latenciesMs[15] as number) < 400, `median ${latenciesMs[15]} ms`);
  });

  it('is not delayed by 100 000 due deliveries of an endpoint that is down', async () => {
    const down = await openReceiver();
    await down.close();
    await stage.addMerchant('down', down.url);
    await stage.addMerchant('well', receiver.url);
    await addBacklog('down', BACKLOG);
    stage.openDeliverer().start(stage.url);
    const latenciesMs = await measure('well', 20);
    assert((latenciesMs.at(-1) as number) < 3_000, `longest ${latenciesMs.at(-1)} ms`);
    const [row] = await stage.sql<{ count: bigint }>("select count(*) from delivery where merchant_id = 'down'");
    assert.equal(Number(row?.count), BACKLOG, 'nothing is dropped');
  });

  it('is not delayed by nine dead endpoints of the same merchant', async () => {
    const down = await openReceiver();
    await down.close();
    await stage.addMerchant('well', receiver.url);
    for (let index = 0; index < 9; index++) {
      const { endpointId } = await stage.addEndpoint('well', index % 2 === 0 ? down.url : silent.url);
      await addBacklog('well', 300, endpointId);
    }
    stage.openDeliverer({ timeoutMs: 1_500 }).start(stage.url);
    const latenciesMs = await measure('well', 20);
    assert((latenciesMs.at(-1) as number) < 3_000, `longest ${latenciesMs.at(-1)} ms`);
  });

  it('is not delayed by endpoints that accept connections and never answer', async () => {
    for (let index = 0; index < 5; index++) {
      await stage.addMerchant(`silent${index}`, silent.url);
      await addBacklog(`silent${index}`, 300);
    }
    await stage.addMerchant('well', receiver.url);
    stage.openDeliverer({ timeoutMs: 1_500 }).start(stage.url);
    const latenciesMs = await measure('well', 20);
    assert((latenciesMs.at(-1) as number) < 3_000, `longest ${latenciesMs.at(-1)} ms`);
  });
});

/** Accepts connections, reads what comes, and never answers. */
async function openSilent() {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}
