import { z } from 'zod';
import { MerchantSchema } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import { restName } from '../../http/problem.ts';
import { time } from '../../resource/answer-fields.ts';
import { Contract, contractJson } from '../../resource/contract.ts';
import { messageJson } from '../../resource/core-messages.ts';
import { text } from '../../resource/request-fields.ts';
import { SigningSecret } from '../../resource/signing-secret.ts';
import { merchantId } from '../fields.ts';
import { ApiKey } from './api-keys.ts';

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
    createdAt: time('When it was created'),
    etag: z.string().meta({ description: 'Names this state; another one after each change', examples: ['42'] }),
    warnings: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .meta({ description: 'What may keep notifications from arriving, as far as the contract shows it' }),
  })
  .meta({ id: 'Merchant' });

/** A merchant of core's as JSON. */
export const merchantJson = messageJson(Merchant, MerchantSchema, {
  contract: ({ contract }) => contract && contractJson(contract),
  warnings: ({ warnings }) =>
    warnings.map(({ field, description }) => ({ field: restName(field), message: description })),
});
