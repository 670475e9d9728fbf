/** A consumer of results that stops when it is told that its history is gone. */
import { setTimeout as delay } from 'node:timers/promises';
import { credentials, status } from '@grpc/grpc-js';
import { openChannel } from '../../../platform/grpc-client.ts';
import { OperationService } from '../../../proto/gen/holdfast/v1/operation_pb.js';

export interface Witness {
  /** The number of results so far, and the token of the newest. */
  readonly seen: () => number;
  readonly token: () => string;
  /** Whether it got OUT_OF_RANGE, which is 410 in REST. */
  readonly told: () => boolean;
  stop(): Promise<void>;
}

/** Watches at one core, and resumes whenever its stream breaks. Resolves when the stream has begun. */
export async function watchUntilTold(address: string, bearer: string): Promise<Witness> {
  const channel = openChannel({ address, credentials: credentials.createInsecure(), token: bearer, timeoutMs: 10_000 });
  const operations = channel.client(OperationService);
  const abort = new AbortController();
  const begun = Promise.withResolvers<void>();
  let [seen, token, told] = [0, '', false];
  const watch = async () => {
    while (!abort.signal.aborted && !told) {
      try {
        for await (const message of operations.watchOperations({ resumeToken: token }, { signal: abort.signal })) {
          token = message.resumeToken;
          if (message.operation) seen++;
          begun.resolve();
        }
      } catch (error) {
        told = (error as { code?: number }).code === status.OUT_OF_RANGE;
      }
      await delay(100);
    }
  };
  const watching = watch();
  await begun.promise;
  return {
    seen: () => seen,
    token: () => token,
    told: () => told,
    async stop() {
      abort.abort();
      await watching;
      channel.close();
    },
  };
}
