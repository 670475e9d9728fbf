import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fromBinary } from '@bufbuild/protobuf';
import { OperationService } from '../../proto/gen/holdfast/v1/operation_pb.js';
import { endModule, isStarted, startModule } from '../child.ts';
import { grpcClient } from '../grpc-client.ts';
import { query } from '../house.ts';
import { runCosted } from '../load.ts';
import type { Row } from '../row.ts';
import { holdOrder } from './calls.ts';

const WATCHERS = 100;
/** Each a process with a connection of its own: what one reads does not wait for what another reads. */
const SERVICES = 4;
const GOAL_MS = 50;

/** From an operation's commit to its message at each of 100 watchers; 99th percentile. */
export const watch: Row = {
  name: `commit to message, ${WATCHERS} watchers, 1 000 operations/s asked for, p99`,
  unit: 'ms',
  reference: `the goal, ${GOAL_MS} ms`,
  goal: { atMost: 1 },
  async prepare(house, seconds) {
    const order = await holdOrder(house, 128, seconds);
    const { address, token } = order.options;
    const services = Array.from({ length: SERVICES }, () => startModule(import.meta.url));
    for (const service of services) house.atRowEnd(() => endModule(service));
    for (const service of services) await asked(service, { address, token, databaseUrl: house.databaseUrl });
    return async () => {
      const { cpu } = await runCosted(house, { ...order, perSecond: 1_000 });
      const lagsMs: number[] = [];
      for (const service of services) for (const lagMs of await asked<number[]>(service, 'report')) lagsMs.push(lagMs);
      lagsMs.sort((a, b) => a - b);
      const quantile = (q: number) => lagsMs[Math.floor(lagsMs.length * q)] ?? Number.NaN;
      return { value: quantile(0.99), reference: GOAL_MS, p50Ms: quantile(0.5), p99Ms: quantile(0.99), cpu };
    };
  },
};

async function asked<Answer>(service: ChildProcess, message: WatchersOrder | 'report'): Promise<Answer> {
  service.send(message);
  const [answer] = (await once(service, 'message')) as [Answer];
  return answer;
}

interface WatchersOrder {
  readonly address: string;
  readonly token: string;
  readonly databaseUrl: string;
}

/** A process of watchers. It reports how late each result came to each of them since it reported last. */
async function watchAll({ address, token, databaseUrl }: WatchersOrder): Promise<void> {
  let arrivals = new Map<string, number[]>();
  const method = OperationService.method.watchOperations;
  const { stream, close } = grpcClient(address, token);
  const idsOf = openDecoder((message) =>
    fromBinary(method.output, message).operations.map(({ requestId }) => requestId),
  );
  const started: Promise<void>[] = [];
  for (let index = 0; index < WATCHERS / SERVICES; index++) {
    const first = Promise.withResolvers<void>();
    started.push(first.promise);
    const ended = stream(method, { maxBatchSize: 1_000 }, (message) => {
      first.resolve();
      const atMs = Date.now();
      for (const requestId of idsOf(message)) {
        const known = arrivals.get(requestId);
        if (known) known.push(atMs);
        else arrivals.set(requestId, [atMs]);
      }
    });
    ended.catch((error: Error) => {
      if (process.connected) throw error;
    });
  }
  await Promise.all(started);
  process.send?.('ready');
  process.on('message', async () => {
    const arrived = arrivals;
    arrivals = new Map();
    const committedMs = await commitTimes(databaseUrl, [...arrived.keys()]);
    process.send?.(
      [...arrived].flatMap(([id, timesMs]) => timesMs.map((ms) => ms - (committedMs.get(id) ?? Number.NaN))),
    );
  });
  await once(process, 'disconnect');
  close();
}

/** Decodes messages. Watchers of one process get the same bytes: decoded for each, they would keep the machine busy. */
function openDecoder<T>(decode: (message: Buffer) => T): (message: Buffer) => T {
  const recent: { readonly message: Buffer; readonly decoded: T }[] = [];
  return (message) => {
    const known = recent.find((each) => each.message.equals(message));
    if (known) return known.decoded;
    const decoded = decode(message);
    recent.unshift({ message: Buffer.from(message), decoded });
    recent.splice(RECENT);
    return decoded;
  };
}

const RECENT = 8;

/** When the operations were committed, by their requestIds. */
async function commitTimes(databaseUrl: string, requestIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await query<{ id: string; ms: number }>(
    databaseUrl,
    `select request_id as id, (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000)::float8 as ms
      from operation where request_id = any($1::uuid[])`,
    [requestIds],
  );
  return new Map(rows.map(({ id, ms }) => [id, ms]));
}

if (isStarted(import.meta.url)) {
  const [order] = (await once(process, 'message')) as [WatchersOrder];
  await watchAll(order);
}
