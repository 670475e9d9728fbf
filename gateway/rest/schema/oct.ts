import { z } from 'zod';

import * as answers from './answer-fields.ts';
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

/** An original credit transaction. */
export const Oct = z
  .object({
    requestId: answers.requestId,
    status: answers.operationStatus,
    amount: answers.money('Amount paid'),
    currency: answers.currency,
    ...answers.parties,
    paymentMethodData: answers.paymentMethodData.optional(),
    reference: answers.reference.optional(),
    bankReference: answers.bankReference.optional(),
    ...answers.processorFields,
    createdAt: answers.time('When it was asked for'),
    finalStateDate: answers.time('When it became final').optional(),
  })
  .meta({ id: 'Oct', description: 'An original credit transaction' });
