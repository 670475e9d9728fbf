import { z } from 'zod';
import * as fields from './fields.ts';

/** Body of POST /oct. */
export const CreateOctBody = z
  .strictObject({
    merchantId: fields.merchantId.optional(),
    tokenId: fields.tokenId,
    amount: fields.amount,
    currency: fields.currency,
    terminalId: fields.terminalId,
    userId: fields.userId,
    merchantReference: fields.merchantReference.optional(),
  })
  .meta({ id: 'CreateOct', description: 'Pays an amount to a card (original credit transaction)' });
