import { setTimeout as delay } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { OperationService } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import type { Merchants } from '../play.ts';

export type ResultWatcher = Awaited<ReturnType<typeof watchResults>>;

/** Merchants whose results are watched from before they start, until a judge stops it. */
export interface Watched extends Merchants {
  readonly watchers: readonly ResultWatcher[];
}

/** Watches at each core. */
export function watchEach(stage: Deployment): Promise<ResultWatcher[]> {
  return Promise.all(stage.cores.map((_, index) => watchResults(stage.openCore(index))));
}

/**
 * Watches the results of all merchants, from now on. Resumes through the next channel whenever its stream breaks, until
 * it is told that its history is gone. Resolves when the stream has begun.
 */
export async function watchResults(...channels: readonly ReturnType<Deployment['openCore']>[]) {
  const begun = Promise.withResolvers<void>();
  const seen: string[] = [];
  let [token, isGone, isStopped, resumed] = ['', false, false, 0];
  let stream = new AbortController();
  const watch = async () => {
    for (; !isStopped && !isGone; resumed++) {
      stream = new AbortController();
      const { signal } = stream;
      try {
        const operations = channels[resumed % channels.length]?.client(OperationService);
        for await (const message of operations?.watchOperations({ resumeToken: token }, { signal }) ?? []) {
          token = message.resumeToken;
          if (message.operation) seen.push(message.operation.requestId);
          begun.resolve();
        }
      } catch (error) {
        // Whatever else the error is, the token says where to resume.
        isGone = (error as { code?: number }).code === status.OUT_OF_RANGE;
      }
      if (!signal.aborted) await delay(100);
    }
  };
  const watching = watch();
  await begun.promise;
  return {
    /** requestIds in order of arrival. */
    seen: seen as readonly string[],
    /** The token of the newest result. */
    token: () => token,
    /** How often the stream broke and was resumed. */
    resumed: () => resumed,
    /** Whether it got OUT_OF_RANGE, which is 410 in REST. */
    isGone: () => isGone,
    /** Disconnects after so many results more. */
    async cutAfter(most: number): Promise<void> {
      for (const goal = seen.length + most; seen.length < goal; ) await delay(2);
      stream.abort();
    },
    async stop() {
      isStopped = true;
      stream.abort();
      await watching;
      for (const channel of channels) channel.close();
    },
  };
}
