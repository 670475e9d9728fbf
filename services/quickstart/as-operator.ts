/** Core, as an operator on this machine calls it. */
import { credentials } from '@grpc/grpc-js';
import { MerchantService } from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { type GrpcClient, openChannel } from '../../proto/grpc.ts';

/** The calls that create merchants and change their credentials. */
export type Merchants = GrpcClient<typeof MerchantService>;

/** Acts over a channel of its own, in clear, with the operator's token. A call fails after 10 s. */
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
