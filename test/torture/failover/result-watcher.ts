/** A consumer of all results that resumes whenever its stream breaks. */
import { setTimeout as delay } from 'node:timers/promises';
import { credentials } from '@grpc/grpc-js';
import { openChannel } from '../../../platform/grpc-client.ts';
import { OperationService } from '../../../proto/gen/holdfast/v1/operation_pb.js';

export interface ResultWatcher {
  /** requestIds in order of arrival. */
  readonly seen: readonly string[];
  /** How often the stream broke and was resumed. */
  readonly resumed: () => number;
  stop(): Promise<void>;
}

/** Watches the results of all merchants at one core, from now on. Resolves when the stream has begun. */
export async function watchResults(address: string, token: string): Promise<ResultWatcher> {
  const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 10_000 });
  const operations = channel.client(OperationService);
  const abort = new AbortController();
  const begun = Promise.withResolvers<void>();
  const seen: string[] = [];
  let resumed = 0;
  let resumeToken = '';
  const watch = async () => {
    while (!abort.signal.aborted) {
      try {
        for await (const message of operations.watchOperations({ resumeToken }, { signal: abort.signal })) {
          resumeToken = message.resumeToken;
          if (message.operation) seen.push(message.operation.requestId);
          begun.resolve();
        }
      } catch {
        // Whatever the error, the token says where to resume.
      }
      resumed++;
      await delay(200);
    }
  };
  const watching = watch();
  await begun.promise;
  return {
    seen,
    resumed: () => resumed,
    async stop() {
      abort.abort();
      await watching;
      channel.close();
    },
  };
}
