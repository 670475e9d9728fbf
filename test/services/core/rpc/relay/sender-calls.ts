import type { GrpcCall, GrpcClient } from '../../../../../platform/grpc-client.ts';
import type { RelayService } from '../../../../../proto/gen/holdfast/v1/relay_pb.js';
import { signingSecret } from '../../../../signing-secret.ts';

/** A sender to create, but for its merchant. */
export const SENDER = { scheme: 'standard-webhooks', settings: { name: 'a' }, keys: [signingSecret('a')] };

/** How to call each method that changes a sender successfully, by its name. */
export function senderCalls(relay: () => GrpcClient<typeof RelayService>, merchantId: string, call: GrpcCall) {
  const made = async () => {
    const { sender } = await relay().createRelaySender({ merchantId, ...SENDER });
    return { merchantId, senderId: sender?.senderId ?? '' };
  };
  return {
    CreateRelaySender: () => relay().createRelaySender({ merchantId, ...SENDER }, call),
    UpdateRelaySender: async () => relay().updateRelaySender({ ...(await made()), settings: { name: 'b' } }, call),
    DeleteRelaySender: async () => relay().deleteRelaySender(await made(), call),
  };
}
