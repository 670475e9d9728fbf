import type { Oct } from '../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { money, paymentMethodData, processorFields, some, time } from './words.ts';

/** An original credit transaction. */
export function octJson(oct: Oct) {
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
