import { credentials } from '@grpc/grpc-js';
import { v7 as uuidv7 } from 'uuid';
import { openChannel } from '../../platform/grpc-client.ts';
import { ProcessorService } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Load, LoadOrder } from '../load.ts';

/** Asks the processor alone: the part of a hold that is not ours. */
export function open({ address = '', token = '' }: LoadOrder['options']): Load {
  const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 30_000 });
  const client = channel.client(ProcessorService);
  const hold = { merchantId: 'bench', terminalId: 't1', userId: 'u1', tokenId: 'tok_sandbox_ok', amount: 10_000n };
  return {
    async act() {
      await client.authorize({ ...hold, requestId: uuidv7(), currency: 'EUR' });
    },
    close: () => channel.close(),
  };
}
