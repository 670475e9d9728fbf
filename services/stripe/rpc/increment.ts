import type { IncrementAuthorizationRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { toStripe } from '../amount.ts';
import type { Desk } from '../desk.ts';
import { type Ending, type Entry, NO_INTENT } from '../ledger/entry.ts';
import { notPerformed } from '../settlement/ending.ts';
import { amountRefusal } from './authorize.ts';
import { endedAlready, operate, type Plan, unusable } from './operate.ts';
import type { ResultInit } from './result.ts';

/** Adds to an authorization, where the account and the card allow it. Stripe does so before the first capture only. */
export function increment(desk: Desk, request: IncrementAuthorizationRequest): Promise<ResultInit> {
  const { requestId, authorizationRequestId, merchantId, account, amount, currency } = request;
  const who = { merchantId, account };
  const intent = {
    ...NO_INTENT,
    requestId,
    kind: 'increment' as const,
    ...who,
    authorizationRequestId,
    amount,
    currency,
  };
  return operate(desk, {
    intent,
    stored: 'increment stored',
    judge: async (authorization) => refusalOf(desk, intent, authorization),
    baseline: totalOf,
  });
}

const totalOf = ({ amount, incremented }: Entry): bigint => amount + incremented;

/** The contract's largest amount. */
const LARGEST = 999_999_999_999n;

function refusalOf(desk: Desk, intent: Plan['intent'], authorization: Entry): Ending | undefined {
  const refusal = unusable(desk, authorization, intent) ?? endedAlready(desk, authorization);
  if (refusal) return refusal;
  if (!authorization.increments || authorization.captured + authorization.voided > 0n) {
    return notPerformed(desk.now(), 'not_supported', 'This authorization takes no increments, or none any more.');
  }
  const total = totalOf(authorization) + intent.amount;
  const isTaken = total <= LARGEST && toStripe(total, intent.currency) !== undefined;
  return isTaken && toStripe(intent.amount, intent.currency) !== undefined ? undefined : amountRefusal(desk, intent);
}
