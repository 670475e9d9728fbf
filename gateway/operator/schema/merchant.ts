import { z } from 'zod';
import { pageOf, time } from '../../rest/schema/answer-fields.ts';
import { currency, page, terminalId, text } from '../../rest/schema/fields.ts';
import { merchantId, uuid } from './fields.ts';

/** An address; only its form is judged here, where it may point to at each attempt. */
const address = (description: string) => text(2048).meta({ description, examples: ['https://merchant.example/hooks'] });

/** What a merchant is allowed. */
export const Contract = z
  .strictObject({
    allowMultipleCaptures: z.boolean().meta({ description: 'Several partial captures per hold' }).optional(),
    holdPeriodSeconds: z
      .int()
      .min(1)
      .max(2_592_000)
      .meta({
        description: "How long a hold lasts; default 604 800 (7 days); the processor's answer wins when shorter",
      })
      .optional(),
    currencies: z.array(currency).min(1).max(200).meta({ description: 'ISO 4217 codes' }),
    terminals: z.array(terminalId).min(1).max(1000),
    notifyHolds: z
      .boolean()
      .meta({ description: 'Notify about holds, releases and expiries; default true' })
      .optional(),
    requireSignedCaptures: z.boolean().meta({ description: 'Captures must carry a message signature' }).optional(),
    capturePublicKey: z
      .string()
      .min(1)
      .max(512)
      .meta({ description: 'Ed25519 public key, SubjectPublicKeyInfo in PEM; needed when captures are signed' })
      .optional(),
    webhookUrl: address('Where signed notifications go; absent = nowhere').optional(),
    internalUrl: address(
      'Where the relay forwards verified notifications; absent = they are parked until it is set',
    ).optional(),
  })
  .meta({ id: 'Contract' });

const name = text(100).meta({ description: 'Name for people', examples: ['Acme'] });

/** Body of POST /operator/merchants. */
export const CreateMerchantBody = z
  .strictObject({ merchantId, name, contract: Contract })
  .meta({ id: 'CreateMerchant' });

/** Body of PUT /operator/merchants/{merchantId}: replaces name and contract. */
export const UpdateMerchantBody = z.strictObject({ name, contract: Contract }).meta({ id: 'UpdateMerchant' });

/** Query of GET /operator/merchants. */
export const ListMerchantsQuery = z.strictObject({ ...page }).meta({ id: 'ListMerchants' });

const ApiKey = z
  .object({
    apiKeyId: uuid('key'),
    last4: z.string().meta({ description: 'Its last four characters' }),
    createdAt: time('When it was created'),
    revokedAt: time('When it was revoked').optional(),
  })
  .meta({ id: 'ApiKey', description: 'What may be shown of an API key' });

const SigningSecret = z
  .object({
    signingSecretId: uuid('secret'),
    createdAt: time('When it was created'),
    retiredAt: time('When it was retired').optional(),
  })
  .meta({ id: 'SigningSecret', description: 'What may be shown of a signing secret' });

/** A merchant, without its keys and secrets. */
export const Merchant = z
  .object({
    merchantId,
    name,
    contract: Contract,
    apiKeys: z.array(ApiKey),
    signingSecrets: z.array(SigningSecret),
    createdAt: time('When it was created'),
  })
  .meta({ id: 'Merchant' });

export const MerchantPage = pageOf(Merchant).meta({ id: 'MerchantPage', description: 'By merchantId' });

const apiKey = z.string().meta({ description: 'The key; shown this once' });
const signingSecret = z.string().meta({ description: 'The secret; shown this once' });

/** Answer of POST /operator/merchants. */
export const CreatedMerchant = z.object({ merchant: Merchant, apiKey, signingSecret }).meta({ id: 'CreatedMerchant' });

/** Answer of POST …/api-keys. */
export const CreatedApiKey = ApiKey.extend({ key: apiKey }).meta({ id: 'CreatedApiKey' });

/** Answer of POST …/signing-secrets. */
export const CreatedSigningSecret = SigningSecret.extend({ secret: signingSecret }).meta({
  id: 'CreatedSigningSecret',
});
