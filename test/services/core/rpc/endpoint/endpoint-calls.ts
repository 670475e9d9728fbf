import type { GrpcCall, GrpcClient } from '../../../../../platform/grpc-client.ts';
import type { WebhookEndpointService } from '../../../../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';

/** How to call each method that changes a further endpoint successfully, by its name; in this order. */
export function endpointCalls(
  endpoints: () => GrpcClient<typeof WebhookEndpointService>,
  merchantId: string,
  call: GrpcCall,
) {
  const newest = async () => {
    const listed = await endpoints().listWebhookEndpoints({ merchantId });
    return { merchantId, endpointId: listed.endpoints.at(-1)?.endpointId ?? '' };
  };
  return {
    CreateWebhookEndpoint: () => endpoints().createWebhookEndpoint({ merchantId, url: 'https://books.example' }, call),
    UpdateWebhookEndpoint: async () =>
      endpoints().updateWebhookEndpoint({ ...(await newest()), timeoutSeconds: 9 }, call),
    DeleteWebhookEndpoint: async () => endpoints().deleteWebhookEndpoint(await newest(), call),
  };
}
