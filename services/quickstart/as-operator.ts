/** Calls core as an operator on this machine. */
import { credentials } from '@grpc/grpc-js';
import { type GrpcClient, openChannel } from '../../platform/grpc-client.ts';
import { MerchantService } from '../../proto/gen/holdfast/v1/merchant_pb.js';

/** The calls that create merchants and change their credentials. */
export type Merchants = GrpcClient<typeof MerchantService>;

/** Runs `act` with a client in cleartext that sends the operator's token. A call fails after 10 s. */
export async function asOperator<T>(
  { coreUrl, operatorToken }: { readonly coreUrl: string; readonly operatorToken: string },
  act: (merchants: Merchants) => Promise<T>,
): Promise<T> {
  const security = credentials.createInsecure();
  const channel = openChannel({ address: coreUrl, credentials: security, token: operatorToken, timeoutMs: 10_000 });
  try {
    return await act(channel.client(MerchantService));
  } finally {
    channel.close();
  }
}
