import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { credentials } from '@grpc/grpc-js';
import { OperationService } from '../../proto/gen/holdfast/v1/operation_pb.js';
import { openChannel } from '../../proto/grpc.ts';
import { runLoad } from '../load.ts';
import type { Row } from '../row.ts';
import { holdOrder } from './holds.ts';

const WATCHERS = 100;
const GOAL_MS = 50;

/** From an operation's final state date, which is just before its commit, to its message at each of 100 watchers; 99th percentile. */
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
    child.send({ address: order.options.address, token: order.options.token });
    await once(child, 'message');
    return async () => {
      await runLoad({ ...order, perSecond: 1_000 });
      child.send('report');
      const [lags] = (await once(child, 'message')) as [{ p50Ms: number; p99Ms: number }];
      return { value: lags.p99Ms, reference: GOAL_MS, ...lags };
    };
  },
};

/** The watchers' process. Each report is of the time since the one before. */
async function watchAll({ address, token }: { address: string; token: string }): Promise<void> {
  const stop = new AbortController();
  let lagsMs: number[] = [];
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
        const now = Date.now();
        for (const { finalStateDate } of message.operations) {
          if (finalStateDate) lagsMs.push(now - timestampMs(finalStateDate));
        }
      }
    })().catch((error: Error) => {
      if (!stop.signal.aborted) throw error;
    });
  }
  await Promise.all(started);
  process.send?.('ready');
  process.on('message', () => {
    lagsMs.sort((a, b) => a - b);
    const quantile = (q: number) => lagsMs[Math.floor(lagsMs.length * q)] ?? Number.NaN;
    process.send?.({ p50Ms: quantile(0.5), p99Ms: quantile(0.99) });
    lagsMs = [];
  });
  await once(process, 'disconnect');
  stop.abort();
  for (const channel of channels) channel.close();
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const [order] = (await once(process, 'message')) as [{ address: string; token: string }];
  await watchAll(order);
}
