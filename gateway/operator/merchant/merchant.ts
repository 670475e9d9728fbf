import { z } from 'zod';
import { MerchantSchema } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import { restName } from '../../http/problem.ts';
import { answer } from '../../resource/answer.ts';
import { Contract, contractJson } from '../../resource/contract.ts';
import { text } from '../../resource/request-fields.ts';
import { SigningSecret } from '../../resource/signing-secret.ts';
import { ApiKey } from './api-keys.ts';

/** What operators set of a merchant. */
export const merchantTerms = {
  name: text(100).meta({ description: 'Name for people', examples: ['Acme'] }),
  contract: Contract,
};

const warnings = z.array(z.object({ field: z.string(), message: z.string() }));

/** A merchant; its keys and secrets without their values. */
export const Merchant = answer('Merchant', MerchantSchema, {
  without: ['warnings'],
  parts: { apiKeys: ApiKey, signingSecrets: SigningSecret, contract: { schema: Contract, json: contractJson } },
  own: {
    warnings: {
      schema: warnings.meta({
        description: 'What may keep notifications from arriving, as far as the contract shows it',
      }),
      read: (merchant) =>
        merchant.warnings.map(({ field, description }) => ({ field: restName(field), message: description })),
    },
  },
});
