import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { credentials } from '@grpc/grpc-js';
import pg from 'pg';
import { OperationService } from '../../proto/gen/holdfast/v1/operation_pb.js';
import { openChannel } from '../../proto/grpc.ts';
import { runLoad } from '../load.ts';
import type { Row } from '../row.ts';
import { holdOrder } from './holds.ts';

const WATCHERS = 100;
const GOAL_MS = 50;

/** From an operation's commit to its message at each of 100 watchers; 99th percentile. */
export const watch: Row = {
  name: `commit to message, ${WATCHERS} watchers, 1 000 operations/s asked for, p99`,
  unit: 'ms',
  reference: `the goal, ${GOAL_MS} ms`,
  goal: { atMost: 1 },
  async prepare(house, seconds) {
    const order = await holdOrder(house, 128, seconds);
    const child = fork(fileURLToPath(import.meta.url), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    house.atRowEnd(async () => {
      child.disconnect();
      await once(child, 'exit');
    });
    const { address, token } = order.options;
    child.send({ address, token, databaseUrl: house.databaseUrl });
    await once(child, 'message');
    return async () => {
      await runLoad({ ...order, perSecond: 1_000 });
      child.send('report');
      const [lags] = (await once(child, 'message')) as [{ p50Ms: number; p99Ms: number }];
      return { value: lags.p99Ms, reference: GOAL_MS, ...lags };
    };
  },
};

interface WatchersOrder {
  readonly address: string;
  readonly token: string;
  readonly databaseUrl: string;
}
interface Arrival {
  readonly requestId: string;
  readonly atMs: number;
}

/** The watchers' process. Each report is of the time since the one before. */
async function watchAll({ address, token, databaseUrl }: WatchersOrder): Promise<void> {
  const stop = new AbortController();
  let arrivals: Arrival[] = [];
  const channels = Array.from({ length: 4 }, () =>
    openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 30_000 }),
  );
  const started: Promise<void>[] = [];
  for (let index = 0; index < WATCHERS; index++) {
    const stream = channels[index % 4]
      ?.client(OperationService)
      .watchOperations({ maxBatchSize: 1_000 }, { signal: stop.signal });
    const first = Promise.withResolvers<void>();
    started.push(first.promise);
    void (async () => {
      for await (const message of stream ?? []) {
        first.resolve();
        const atMs = Date.now();
        for (const { requestId } of message.operations) arrivals.push({ requestId, atMs });
      }
    })().catch((error: Error) => {
      if (!stop.signal.aborted) throw error;
    });
  }
  await Promise.all(started);
  process.send?.('ready');
  process.on('message', async () => {
    const arrived = arrivals;
    arrivals = [];
    const committedMs = await commitTimes(databaseUrl, [...new Set(arrived.map(({ requestId }) => requestId))]);
    const lagsMs = arrived.map(({ requestId, atMs }) => atMs - (committedMs.get(requestId) ?? Number.NaN));
    lagsMs.sort((a, b) => a - b);
    const quantile = (q: number) => lagsMs[Math.floor(lagsMs.length * q)] ?? Number.NaN;
    process.send?.({ p50Ms: quantile(0.5), p99Ms: quantile(0.99) });
  });
  await once(process, 'disconnect');
  stop.abort();
  for (const channel of channels) channel.close();
}

/** When the operations were committed, by their requestIds. */
async function commitTimes(databaseUrl: string, requestIds: readonly string[]): Promise<Map<string, number>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ id: string; ms: number }>(
    `select request_id as id, (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000)::float8 as ms
      from operation where request_id = any($1::uuid[])`,
    [requestIds],
  );
  await client.end();
  return new Map(rows.map(({ id, ms }) => [id, ms]));
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const [order] = (await once(process, 'message')) as [WatchersOrder];
  await watchAll(order);
}
