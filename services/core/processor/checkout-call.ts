import type { HoldRow } from '../storage/hold.ts';
import type { CheckoutCall } from './processor.ts';

/** What the processor is asked for when a hold is to be placed by a checkout. */
export function checkoutCall(hold: HoldRow, contract: { name: string }): CheckoutCall {
  return {
    requestId: hold.requestId,
    merchantId: hold.merchantId,
    merchantName: contract.name,
    terminalId: hold.terminalId,
    userId: hold.userId,
    amount: hold.amount,
    currency: hold.currency,
    returnUrl: hold.returnUrl ?? '',
    saveCard: hold.saveCard,
    expiresAt: hold.checkoutExpiresAt ?? hold.createdAt,
  };
}
