/** Fields that several operator requests share. */
import { z } from 'zod';
import { MERCHANT_ID } from '../../merchant-id.ts';
import { page, text } from '../../rest/schema/fields.ts';

export const merchantId = z
  .string()
  .regex(MERCHANT_ID)
  .meta({ description: 'Names a merchant', examples: ['acme'] });

/** A word that an operator looks for. */
export const word = (max: number) => text(max);

export const uuid = (what: string) =>
  z.uuid().meta({ description: `Names the ${what} (UUIDv7)`, examples: ['0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'] });

export const endpointKind = z
  .enum(['WEBHOOK', 'INTERNAL'])
  .meta({ description: "Which of the merchant's endpoints: webhookUrl or internalUrl" });

export const notificationKind = z.enum(['PAYMENT', 'OCT']).meta({ description: 'Which message' });

/** A query whose only filter is the merchant. */
export const MerchantQuery = z.strictObject({ merchantId: merchantId.optional(), ...page }).meta({ id: 'OfMerchant' });

/** A body that says nothing. */
export const NoBody = z.strictObject({}).meta({ id: 'NoBody' });
