/** Writers at both cores, and a watcher of the stream of operations who can be cut and resumes. */
import { status } from '@grpc/grpc-js';
import type { TwoCores } from '../stage/two-cores.ts';

export type Watched = Awaited<ReturnType<typeof startWatched>>;

/** Starts writers, and a watcher from before they write. */
export async function startWatched(stage: TwoCores, count: number) {
  const sequences: bigint[] = [];
  let token = await begin(stage);
  const writers = startWriters(stage, count);
  return {
    /** What the watcher has seen, in its order. */
    sequences: sequences as readonly bigint[],
    /** Resumes at one of the cores, and disconnects after a number of results. */
    async watch(index: number, most: number): Promise<void> {
      token = await watch(stage, index, token, sequences, most);
    },
    stop: writers.stop,
  };
}

/** Where a stream begins that is opened before anything is written: its first message says so. */
async function begin(stage: TwoCores): Promise<string> {
  const { operations, opened } = stage.channel('internal');
  const abort = new AbortController();
  try {
    for await (const { resumeToken } of operations.watchOperations({}, { signal: abort.signal })) return resumeToken;
    throw new Error('the stream ended without a message');
  } finally {
    abort.abort();
    opened.close();
  }
}

/** Reads a number of results from one of the cores and disconnects. Returns where to resume. */
async function watch(
  stage: TwoCores,
  index: number,
  token: string,
  sequences: bigint[],
  most: number,
): Promise<string> {
  const abort = new AbortController();
  const { operations, opened } = stage.channel('internal', index);
  let resumeToken = token;
  let seen = 0;
  try {
    for await (const message of operations.watchOperations({ resumeToken }, { signal: abort.signal })) {
      resumeToken = message.resumeToken;
      if (!message.operation) continue;
      sequences.push(message.operation.sequence);
      if (++seen >= most) break;
    }
  } finally {
    abort.abort();
    opened.close();
  }
  return resumeToken;
}

/** Writers at both cores: each result is an operation. */
function startWriters(stage: TwoCores, count: number): { stop(): Promise<void> } {
  let stopped = false;
  const common = { merchantId: 'acme', amount: 100n, currency: 'EUR', terminalId: 'T1', userId: 'u' };
  const running = Array.from({ length: count }, async (_, index) => {
    const { octs, holds } = stage.channel('internal', index);
    const write = async () => {
      await octs.createOct({ ...common, tokenId: 'tok_sandbox_ok' });
      const { preauthorization } = await holds.createPreauthorization({ ...common, tokenId: 'tok_sandbox_ok' });
      const { preauthorizationId = '' } = preauthorization ?? {};
      // Without one the outcome is not known yet.
      if (preauthorizationId === '') return;
      await holds.capturePreauthorization({ merchantId: 'acme', preauthorizationId, amountToCapture: 100n });
    };
    while (!stopped) {
      await write().catch((error) => {
        // On a busy machine; the log says what became of it.
        if (error.code !== status.UNAVAILABLE && error.code !== status.DEADLINE_EXCEEDED) throw error;
      });
    }
  });
  return {
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}
