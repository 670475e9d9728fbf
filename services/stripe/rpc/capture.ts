import type { CaptureRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { toStripe } from '../amount.ts';
import type { Desk } from '../desk.ts';
import { type Ending, type Entry, NO_INTENT } from '../ledger/entry.ts';
import { remainingOf } from '../settlement/capture.ts';
import { notPerformed } from '../settlement/ending.ts';
import { amountRefusal } from './authorize.ts';
import { endedAlready, operate, type Plan, unusable } from './operate.ts';
import type { ResultInit } from './result.ts';

/** Charges a part of an authorization; the last capture, or the only one there can be, gives the rest back. */
export function capture(desk: Desk, request: CaptureRequest): Promise<ResultInit> {
  const { requestId, authorizationRequestId, merchantId, account, terminalId, userId, tokenId } = request;
  const { amount, currency, finalCapture } = request;
  const who = { merchantId, account, terminalId, userId, tokenId };
  const what = { authorizationRequestId, amount, currency, finalCapture };
  const intent = { ...NO_INTENT, requestId, kind: 'capture' as const, ...who, ...what };
  return operate(desk, {
    intent,
    stored: 'capture stored',
    judge: async (authorization) => refusalOf(desk, intent, authorization),
    baseline: ({ captured }) => captured,
  });
}

/** Why an authorization cannot be captured so, or undefined: Stripe decides then. */
function refusalOf(desk: Desk, intent: Plan['intent'], authorization: Entry): Ending | undefined {
  const refusal = unusable(desk, authorization, intent) ?? endedAlready(desk, authorization);
  if (refusal) return refusal;
  const { terminalId, userId, severalCaptures, captured } = authorization;
  if (terminalId !== intent.terminalId || userId !== intent.userId) {
    const message = 'Terminal or user are not those of the authorization.';
    return notPerformed(desk.now(), 'authorization_mismatch', message);
  }
  if (!severalCaptures && captured > 0n) {
    return notPerformed(desk.now(), 'not_supported', 'This authorization takes one capture.');
  }
  if (intent.amount > remainingOf(authorization)) {
    const message = 'The amount is more than what is left of the authorization.';
    return notPerformed(desk.now(), 'amount_exceeds_authorization', message);
  }
  return toStripe(intent.amount, intent.currency) === undefined ? amountRefusal(desk, intent) : undefined;
}
