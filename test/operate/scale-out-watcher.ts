/** A consumer of WatchOperations that resumes at another core from its last token when its own core is gone. */
import { setTimeout as delay } from 'node:timers/promises';
import type { openChannel } from '../../platform/grpc-client.ts';
import { OperationService } from '../../proto/gen/holdfast/v1/operation_pb.js';

type Channel = ReturnType<typeof openChannel>;

/** What a consumer has received so far. */
export interface ScaleOutWatcher {
  /** In order of arrival. */
  readonly seen: readonly { readonly sequence: bigint; readonly requestId: string }[];
  /** How often it resumed. */
  readonly resumed: number;
  /** Resolves when the first stream has begun; from then on nothing may be missed. */
  readonly begun: Promise<void>;
  close(): Promise<void>;
}

/** Watches through the first channel, and moves to the next one each time a stream ends. */
export function watchAcross(channels: readonly Channel[]): ScaleOutWatcher {
  const seen: { sequence: bigint; requestId: string }[] = [];
  const begun = Promise.withResolvers<void>();
  const closing = new AbortController();
  const { signal } = closing;
  let resumeToken = '';
  let turn = 0;

  async function follow(): Promise<void> {
    const operations = (channels[turn % channels.length] as Channel).client(OperationService);
    for await (const message of operations.watchOperations({ resumeToken }, { signal })) {
      ({ resumeToken } = message);
      const { operation } = message;
      if (operation) seen.push({ sequence: operation.sequence, requestId: operation.requestId });
      begun.resolve();
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      // A broken stream is expected here.
      await follow().catch(() => delay(50));
      turn++;
    }
  }

  const running = run();
  return {
    seen,
    get resumed() {
      return turn;
    },
    begun: begun.promise,
    async close() {
      closing.abort();
      await running;
    },
  };
}
