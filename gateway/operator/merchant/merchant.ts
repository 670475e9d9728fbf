import { z } from 'zod';
import type { Merchant as CoreMerchant } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import { restName } from '../../http/problem.ts';
import { time as timeField } from '../../resource/answer-fields.ts';
import { time } from '../../resource/core-messages.ts';
import { text } from '../../resource/request-fields.ts';
import { SigningSecret, signingSecretJson } from '../../resource/signing-secret.ts';
import { merchantId } from '../fields.ts';
import { ApiKey, apiKeyJson } from './api-keys.ts';
import { Contract, contractJson } from './contract.ts';

/** What operators set of a merchant. */
export const merchantTerms = {
  name: text(100).meta({ description: 'Name for people', examples: ['Acme'] }),
  contract: Contract,
};

/** A merchant; its keys and secrets without their values. */
export const Merchant = z
  .object({
    merchantId,
    ...merchantTerms,
    apiKeys: z.array(ApiKey),
    signingSecrets: z.array(SigningSecret),
    createdAt: timeField('When it was created'),
    warnings: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .meta({ description: 'What may keep notifications from arriving, as far as the contract shows it' }),
  })
  .meta({ id: 'Merchant' });

/** A merchant of core's as JSON. */
export function merchantJson(merchant: CoreMerchant) {
  return {
    merchantId: merchant.merchantId,
    name: merchant.name,
    contract: merchant.contract && contractJson(merchant.contract),
    apiKeys: merchant.apiKeys.map(apiKeyJson),
    signingSecrets: merchant.signingSecrets.map(signingSecretJson),
    createdAt: time(merchant.createdAt),
    warnings: merchant.warnings.map(({ field, description }) => ({ field: restName(field), message: description })),
  };
}
