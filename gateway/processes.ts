/**
 * Several gateway processes on one port, to use several cores (GATEWAY_PROCESSES). The first process only starts the
 * others, and restarts each that ends. Each process accepts its own connections: a connection handed over by the first
 * process would never be answered or closed if its receiver had just died, or froze.
 */
import cluster, { type Worker } from 'node:cluster';
import { on, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { Log } from '../platform/log.ts';
import type { Running } from '../platform/run-process.ts';

/** Starts `count` processes of this program, and restarts them when they end, until it is closed. */
export function startProcesses(count: number, log: Log): Running {
  let isClosing = false;
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const serving = new Set<Worker>();
  cluster.on('message', async (worker: Worker, message: Message) => {
    if (message.ready) serving.add(worker);
    if (!message.asksMetrics) return;
    const metrics = await addedUp(serving).catch(() => null);
    if (worker.isConnected()) worker.send({ metrics });
  });
  const ready = Promise.all(Array.from({ length: count }, () => isReady(cluster.fork())));
  cluster.on('exit', async (worker, code: number, killedBy: string | null) => {
    serving.delete(worker);
    if (isClosing) return;
    log.error('process ended', { code: killedBy ?? code });
    await delay(PAUSE_MS);
    if (!isClosing) cluster.fork();
  });
  return {
    ready,
    close: async () => {
      isClosing = true;
      const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
      // A dead one stays in the list until its channel is closed, too.
      await Promise.all(workers.filter((worker) => !worker.isDead()).map(stop));
    },
  };
}

/** A message between processes. */
interface Message {
  readonly ready?: true;
  /** Asks for the metrics of all processes. */
  readonly asksMetrics?: true;
  /** From the first process: for its own. */
  readonly asksOwn?: true;
  readonly own?: Metrics;
  readonly metrics?: string | null;
}

type Metrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Rejects when it ends before it can serve; it has written why. */
function isReady(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', ({ ready }: Message) => ready && resolve());
    worker.once('exit', () => reject(new Error('one of its processes did not start')));
  });
}

async function stop(worker: Worker): Promise<void> {
  const exited = once(worker, 'exit');
  worker.process.kill('SIGTERM');
  await exited;
}

async function addedUp(workers: Iterable<Worker>): Promise<string> {
  return AggregatorRegistry.aggregate(await Promise.all(Array.from(workers, metricsOf))).metrics();
}

/** None of a process that ends before it answers. One that runs and is silent fails: without it, counts would fall. */
async function metricsOf(worker: Worker): Promise<Metrics> {
  const settled = new AbortController();
  const signal = AbortSignal.any([settled.signal, AbortSignal.timeout(TELLS_WITHIN_MS)]);
  const ended = once(worker, 'exit', { signal }).then(() => []);
  // An error to send means that it ends.
  worker.send({ asksOwn: true } satisfies Message, () => {});
  try {
    return await Promise.race([ended, told(on(worker, 'message', { signal }), ({ own }) => own)]);
  } finally {
    settled.abort();
  }
}

/** Returns a reader of the metrics of this process; of all that share its port, added up, when there are several. */
export function metricsOfAll(registry: Registry): () => Promise<string> {
  if (!cluster.isWorker) return () => registry.metrics();
  process.on('message', async ({ asksOwn }: Message) => {
    if (asksOwn) process.send?.({ own: await registry.getMetricsAsJSON() } satisfies Message);
  });
  return async () => {
    const messages = on(process, 'message');
    process.send?.({ asksMetrics: true } satisfies Message);
    const metrics = await told(messages, (message) => message.metrics);
    if (metrics === null) throw new Error('not all processes told their metrics');
    return metrics;
  };
}

/** The first answer among the messages. */
async function told<T>(messages: AsyncIterable<Message[]>, read: (message: Message) => T | undefined): Promise<T> {
  for await (const [message = {}] of messages) {
    const answer = read(message);
    if (answer !== undefined) return answer;
  }
  throw new Error('no more messages');
}

/** A process that ends while it starts must not be restarted without a pause. */
const PAUSE_MS = 1_000;
/** Prometheus waits for 10 s. */
const TELLS_WITHIN_MS = 5_000;
