import { z } from 'zod';
import { isReturnUrl } from '../../../proto/return-url.ts';
import * as fields from './fields.ts';

const metadata = z
  .record(
    fields.text(40),
    z
      .string()
      .max(500)
      .and(fields.text(500).or(z.literal(''))),
  )
  .refine((pairs) => Object.keys(pairs).length <= 20, 'must have at most 20 pairs')
  .meta({ description: "The merchant's own data: at most 20 pairs, keys to 40 and values to 500 characters" });

const returnUrl = fields
  .text(2048)
  .refine(isReturnUrl, 'must be an https URL; http only for loopback')
  .meta({
    description: 'Where the checkout page sends the customer afterwards',
    examples: ['https://shop.example/done'],
  });

/** Body of POST /preauthorization. */
export const CreatePreauthorizationBody = z
  .strictObject({
    merchantId: fields.merchantId.optional(),
    tokenId: fields.tokenId.optional(),
    amount: fields.amount,
    currency: fields.currency,
    terminalId: fields.terminalId,
    userId: fields.userId,
    merchantReference: fields.merchantReference.optional(),
    returnUrl: returnUrl.optional(),
    saveCard: z.boolean().meta({ description: 'Ask the checkout to generate a token for later use' }).optional(),
    metadata: metadata.optional(),
  })
  .meta({
    id: 'CreatePreauthorization',
    description: 'Asks for a hold; without tokenId the customer enters a card at checkoutUrl',
  });

/** Body of POST /preauthorization/authorization. */
export const CapturePreauthorizationBody = z
  .strictObject({
    merchantId: fields.merchantId.optional(),
    preauthorizationId: fields.preauthorizationId,
    amountToCapture: fields.amount,
    finalCapture: z.boolean().meta({ description: 'Close the hold with this capture' }).optional(),
  })
  .meta({ id: 'CapturePreauthorization', description: 'Charges a hold in full or in part' });

/** Body of POST /preauthorization/release. */
export const ReleasePreauthorizationBody = z
  .strictObject({
    merchantId: fields.merchantId.optional(),
    preauthorizationId: fields.preauthorizationId.optional(),
    requestId: fields.requestId.optional(),
  })
  .refine((body) => (body.preauthorizationId === undefined) !== (body.requestId === undefined), {
    path: ['preauthorizationId'],
    error: 'give either preauthorizationId or requestId',
  })
  .meta({
    id: 'ReleasePreauthorization',
    description: 'Gives back what remains of a hold, or cancels its checkout',
    oneOf: [{ required: ['preauthorizationId'] }, { required: ['requestId'] }],
  });

/** Query of GET /preauthorization. Filters are joined by AND. */
export const ListPreauthorizationsQuery = z
  .strictObject({
    status: z.enum(['IN_PROGRESS', 'PARTIALLY_CAPTURED', 'CAPTURED', 'RELEASED', 'EXPIRED', 'FAILED']).optional(),
    userId: fields.userId.optional(),
    terminalId: fields.terminalId.optional(),
    createdFrom: fields.time.optional(),
    createdTo: fields.time.optional(),
    expiringBefore: fields.time.optional(),
    ...fields.page,
  })
  .meta({ id: 'ListPreauthorizations' });
