import { z } from 'zod';
import { OctSchema } from '../../proto/gen/holdfast/v1/oct_pb.js';
import * as fields from './answer-fields.ts';
import { messageJson, processorFields } from './core-messages.ts';

/** An original credit transaction. */
export const Oct = z
  .object({
    requestId: fields.requestId,
    status: fields.operationStatus,
    amount: fields.money('Amount paid'),
    currency: fields.currency,
    ...fields.parties,
    paymentMethodData: fields.paymentMethodData.optional(),
    reference: fields.reference.optional(),
    bankReference: fields.bankReference.optional(),
    ...fields.processorFields,
    createdAt: fields.time('When it was asked for'),
    finalStateDate: fields.time('When it became final').optional(),
  })
  .meta({ id: 'Oct', description: 'An original credit transaction' });

/** An OCT of core's as JSON. */
export const octJson = messageJson(Oct, OctSchema, processorFields);
