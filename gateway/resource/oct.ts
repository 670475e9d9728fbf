import { z } from 'zod';
import type { Oct as CoreOct } from '../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import * as fields from './answer-fields.ts';
import { money, paymentMethodData, processorFields, some, time } from './core-messages.ts';

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
export function octJson(oct: CoreOct) {
  return {
    requestId: oct.requestId,
    status: OperationState[oct.state],
    amount: money(oct.amount),
    currency: oct.currency,
    merchantId: oct.merchantId,
    terminalId: oct.terminalId,
    userId: oct.userId,
    merchantReference: some(oct.merchantReference),
    paymentMethodData: paymentMethodData(oct.paymentMethod),
    reference: some(oct.processorReference),
    bankReference: some(oct.bankReference),
    ...processorFields(oct.processorError),
    createdAt: time(oct.createdAt),
    finalStateDate: time(oct.finalStateDate),
  };
}
