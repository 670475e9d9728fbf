import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { OctRow } from '../../storage/oct/oct.ts';
import { presentAnswer, presentCard, time } from '../present.ts';

/** An OCT as callers see it. */
export function presentOct(oct: OctRow) {
  return {
    requestId: oct.requestId,
    state: OperationState[oct.state],
    amount: oct.amount,
    currency: oct.currency,
    merchantId: oct.merchantId,
    terminalId: oct.terminalId,
    userId: oct.userId,
    ...(oct.merchantReference != null && { merchantReference: oct.merchantReference }),
    ...presentCard(oct),
    ...(oct.bankReference != null && { bankReference: oct.bankReference }),
    ...presentAnswer(oct),
    ...time('createdAt', oct.createdAt),
    ...time('finalStateDate', oct.finalAt),
  };
}
