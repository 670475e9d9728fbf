import { type Account, type Charge, type Dispute, emit, newId, type Refund } from './account.ts';
import { invalid, missing, wrongState } from './fake-error.ts';
import { type Form, formOf, numberOf, textOf } from './form.ts';
import { chargeOf, findIntent } from './payment-intents.ts';

export function createRefund(account: Account, form: Form): Refund {
  const intent = findIntent(account, textOf(form, 'payment_intent') ?? '');
  if (intent.amount_received === 0)
    throw wrongState('This PaymentIntent does not have a successful charge to refund.', 'charge_not_captured');
  const charge = chargeOf(account, intent);
  const left = charge.amount_captured - charge.amount_refunded;
  const amount = numberOf(form, 'amount') ?? left;
  if (left === 0) throw wrongState('Charge has already been refunded.', 'charge_already_refunded');
  if (amount > left)
    throw invalid(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`, 'amount');
  if (amount < 1) throw invalid('Invalid positive integer', 'amount', 'parameter_invalid_integer');
  const status = intent.payment_method === 'pm_card_pendingRefund' ? 'pending' : account.refundStatus;
  const metadata = formOf(form, 'metadata') as Record<string, string>;
  charge.amount_refunded += amount;
  return addRefund(account, charge, { amount, metadata, status, category: 'refund' });
}

/** What a partial capture left, as versions of the API before 2025-03-31 gave it back. */
export function leaveRefund(account: Account, intentId: string): Refund {
  const charge = chargeOf(account, findIntent(account, intentId));
  const amount = charge.amount - charge.amount_captured;
  return addRefund(account, charge, {
    amount,
    metadata: {},
    status: 'succeeded',
    category: 'partial_capture_reversal',
  });
}

function addRefund(
  account: Account,
  charge: Charge,
  {
    category,
    ...said
  }: Pick<Refund, 'amount' | 'metadata' | 'status'> & { category: 'refund' | 'partial_capture_reversal' },
): Refund {
  const refund: Refund = {
    id: newId('re'),
    object: 'refund',
    balance_transaction: newId('txn'),
    charge: charge.id,
    created: account.now(),
    currency: charge.currency,
    payment_intent: charge.payment_intent,
    ...said,
  };
  account.refunds.set(refund.id, refund);
  account.categories.set(String(refund.balance_transaction), category);
  emit(account, 'refund.created', refund);
  emit(account, 'charge.refunded', charge);
  return refund;
}

export function shownTransaction(account: Account, id: string): object {
  const reporting_category = account.categories.get(id);
  if (!reporting_category) throw missing('balance_transaction', id);
  return { id, object: 'balance_transaction', type: 'refund', reporting_category };
}

export function findRefund(account: Account, id: string): Refund {
  const refund = account.refunds.get(id);
  if (!refund) throw missing('refund', id);
  return refund;
}

/** Ends a pending refund, or fails one that had succeeded because the card's bank returned it. */
export function settleRefund(account: Account, id: string, status: 'succeeded' | 'failed'): void {
  const refund = findRefund(account, id);
  refund.status = status;
  if (status === 'failed') {
    refund.failure_reason = 'expired_or_canceled_card';
    const charge = account.charges.get(String(refund.charge));
    if (charge) charge.amount_refunded -= refund.amount;
  }
  emit(account, status === 'failed' ? 'refund.failed' : 'refund.updated', refund);
}

/** A cardholder disputes a charge: Stripe withdraws the amount. */
export function openDispute(
  account: Account,
  intentId: string,
  amount: number,
  status: Dispute['status'] = 'needs_response',
): Dispute {
  const charge = chargeOf(account, findIntent(account, intentId));
  const dispute: Dispute = {
    id: newId('du'),
    object: 'dispute',
    amount,
    charge: charge.id,
    created: account.now(),
    currency: charge.currency,
    payment_intent: intentId,
    reason: 'fraudulent',
    status,
  };
  account.disputes.set(dispute.id, dispute);
  emit(account, 'charge.dispute.created', dispute);
  return dispute;
}

export function closeDispute(account: Account, id: string, status: 'won' | 'lost'): void {
  const dispute = account.disputes.get(id);
  if (!dispute) throw missing('dispute', id);
  dispute.status = status;
  emit(account, 'charge.dispute.closed', dispute);
}
