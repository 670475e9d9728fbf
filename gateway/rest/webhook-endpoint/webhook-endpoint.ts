import { z } from 'zod';
import type { Merchant as CoreMerchant } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import { type Endpoint as CoreEndpoint, EndpointKind } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { restName } from '../../http/problem.ts';
import { some } from '../../resource/core-messages.ts';
import { Endpoint, endpointJson } from '../../resource/delivery.ts';
import { endpointUrl } from '../../resource/request-fields.ts';
import { SigningSecret, signingSecretJson } from '../../resource/signing-secret.ts';

export const webhookUrl = endpointUrl('Where signed notifications go: an origin with an optional path');

/** A merchant's webhook, as the merchant itself sees it. */
export const WebhookEndpoint = z
  .object({
    webhookUrl: webhookUrl.meta({ description: 'Where signed notifications go; absent = nowhere' }).optional(),
    ...Endpoint.pick({ pause: true, pausedUntil: true, failureCount: true }).shape,
    signingSecrets: z.array(SigningSecret).meta({ description: 'Oldest first, retired ones included' }),
    warnings: z
      .array(z.string())
      .meta({ description: 'What may keep notifications from arriving, as far as the address shows it' }),
  })
  .meta({ id: 'WebhookEndpoint', description: "The merchant's webhook and the secrets that sign what it receives" });

/** The webhook as JSON, from core's messages; an endpoint that always worked is not among the endpoints. */
export function webhookEndpointJson(merchant: CoreMerchant, endpoints: readonly CoreEndpoint[]) {
  const endpoint = endpoints.find(({ endpointKind }) => endpointKind === EndpointKind.WEBHOOK);
  const { pause, pausedUntil, failureCount } = endpoint ? endpointJson(endpoint) : FRESH;
  return {
    webhookUrl: merchant.contract && some(merchant.contract.webhookUrl),
    ...{ pause, pausedUntil, failureCount },
    signingSecrets: merchant.signingSecrets.map(signingSecretJson),
    warnings: merchant.warnings
      .filter(({ field }) => field === 'contract.webhook_url')
      .map(({ description }) => restName(description)),
  };
}

const FRESH = { pause: undefined, pausedUntil: undefined, failureCount: 0 };
