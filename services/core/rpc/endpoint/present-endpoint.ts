import { WebhookEndpointSchema } from '../../../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import type { Cipher } from '../../storage/cipher.ts';
import { type EndpointId, purposeOf, shownEndpointId } from '../../storage/delivery/delivery-row.ts';
import { FRESH } from '../../storage/endpoint/endpoint-row.ts';
import { DEFAULT_TIMEOUT_S, openHeaders } from '../../storage/endpoint/endpoint-terms.ts';
import type { MerchantEndpoints, WebhookEndpointRow } from '../../storage/endpoint/webhook-endpoint-row.ts';
import { addressWarnings } from '../merchant/contract-columns.ts';
import { presentSigningSecret } from '../merchant/keys-and-secrets.ts';
import { present } from '../present.ts';

/** The settings of an endpoint of the contract, besides its address. */
const OF_CONTRACT = { types: null, description: '', headersCiphertext: null, timeoutS: DEFAULT_TIMEOUT_S };

type Settings = Omit<WebhookEndpointRow, 'merchantId' | 'createdAt' | symbol> & { readonly createdAt?: Date };

/** A merchant's endpoints: the contract's that have an address, then the further ones. */
export function presentEndpoints(read: MerchantEndpoints, cipher: Cipher) {
  const { merchant, endpoints, merchantSecrets, endpointSecrets } = read;
  const ofContract = (id: EndpointId, url: string | null) => {
    const settings = url === null ? [] : [{ ...OF_CONTRACT, id, url }];
    return settings.map((each) => presentOne(read, each, merchantSecrets, cipher));
  };
  return [
    ...ofContract('webhook', merchant.webhookUrl ?? null),
    ...ofContract('internal', merchant.internalUrl ?? null),
    ...endpoints.map((each) => {
      const secrets = endpointSecrets.filter(({ endpointId }) => endpointId === each.id);
      return presentOne(read, each, secrets, cipher);
    }),
  ];
}

function presentOne(
  { merchant, states }: MerchantEndpoints,
  { id, headersCiphertext, timeoutS: timeoutSeconds, ...settings }: Settings,
  secrets: readonly Parameters<typeof presentSigningSecret>[0][],
  cipher: Cipher,
) {
  const state = states.find(({ endpointId }) => endpointId === id) ?? FRESH;
  const purpose = purposeOf(id);
  const own = {
    merchantId: merchant.id,
    endpointId: shownEndpointId(id),
    purpose: purpose === 'webhook' ? 'merchant' : purpose,
    types: settings.types ?? [],
    headerNames: headersCiphertext ? Object.keys(openHeaders(cipher, id, headersCiphertext)) : [],
    timeoutSeconds,
    failureCount: state.failureCount + state.refusedCount,
    signingSecrets: secrets.map(presentSigningSecret),
    warnings: addressWarnings(settings.url, purpose),
  };
  return present(WebhookEndpointSchema, { ...state, ...settings }, own);
}
