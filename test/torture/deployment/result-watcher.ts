import { setTimeout as delay } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { OperationService } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import type { Deployment } from './deployment.ts';

export type ResultWatcher = Awaited<ReturnType<typeof watchResults>>;

/**
 * Watches the results of all merchants at one core, from now on. Resumes whenever its stream breaks, until it is told
 * that its history is gone. Resolves when the stream has begun.
 */
export async function watchResults(channel: ReturnType<Deployment['openCore']>) {
  const operations = channel.client(OperationService);
  const abort = new AbortController();
  const begun = Promise.withResolvers<void>();
  const seen: string[] = [];
  let [token, isGone, resumed] = ['', false, 0];
  const watch = async () => {
    while (!abort.signal.aborted && !isGone) {
      try {
        for await (const message of operations.watchOperations({ resumeToken: token }, { signal: abort.signal })) {
          token = message.resumeToken;
          if (message.operation) seen.push(message.operation.requestId);
          begun.resolve();
        }
      } catch (error) {
        // Whatever else the error is, the token says where to resume.
        isGone = (error as { code?: number }).code === status.OUT_OF_RANGE;
      }
      resumed++;
      await delay(100);
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
    async stop() {
      abort.abort();
      await watching;
      channel.close();
    },
  };
}
