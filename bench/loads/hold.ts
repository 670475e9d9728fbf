import { credentials } from '@grpc/grpc-js';
import { openChannel } from '../../platform/grpc-client.ts';
import { PreauthorizationService } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { Load, LoadOrder } from '../load.ts';

/** Places holds by token over gRPC; with `capture`, captures each in full. */
export function open({ address, token, merchantId, capture }: LoadOrder['options']): Load {
  const channel = openChannel({
    address: address ?? '',
    credentials: credentials.createInsecure(),
    token: token ?? '',
    timeoutMs: 30_000,
  });
  const client = channel.client(PreauthorizationService);
  const hold = {
    merchantId: merchantId ?? '',
    tokenId: 'tok_sandbox_ok',
    amount: 10_000n,
    currency: 'EUR',
    terminalId: 't1',
    userId: 'u1',
  };
  return {
    async act() {
      const { preauthorization } = await client.createPreauthorization(hold);
      if (capture !== 'yes') return;
      const preauthorizationId = preauthorization?.preauthorizationId ?? '';
      await client.capturePreauthorization({
        merchantId: hold.merchantId,
        preauthorizationId,
        amountToCapture: 10_000n,
      });
    },
    close: () => channel.close(),
  };
}
