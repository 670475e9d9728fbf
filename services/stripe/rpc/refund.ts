import { Answer, type RefundRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { toStripe } from '../amount.ts';
import type { Desk } from '../desk.ts';
import { type Ending, type Entry, entriesOf, findEntry, NO_INTENT } from '../ledger/entry.ts';
import { notPerformed } from '../settlement/ending.ts';
import { amountRefusal } from './authorize.ts';
import { operate, type Plan, unusable } from './operate.ts';
import type { ResultInit } from './result.ts';

/** Gives a capture, or a part of it, back to the card. */
export function refund(desk: Desk, request: RefundRequest): Promise<ResultInit> {
  const { requestId, authorizationRequestId, captureRequestId, merchantId, account, amount, currency } = request;
  const what = { authorizationRequestId, captureRequestId, amount, currency };
  const intent = { ...NO_INTENT, requestId, kind: 'refund' as const, merchantId, account, ...what };
  return operate(desk, {
    intent,
    stored: 'refund stored',
    judge: (authorization) => refusalOf(desk, intent, authorization),
    baseline: () => 0n,
  });
}

async function refusalOf(desk: Desk, intent: Plan['intent'], authorization: Entry): Promise<Ending | undefined> {
  const refusal = unusable(desk, authorization, intent);
  if (refusal) return refusal;
  const { query } = desk.database;
  const capture = await findEntry(query, intent.captureRequestId ?? '');
  const isCapture = capture?.kind === 'capture' && capture.answer === Answer.APPROVED;
  if (!isCapture || capture.authorizationRequestId !== authorization.requestId) {
    return notPerformed(desk.now(), 'capture_not_found', 'There is no such capture.');
  }
  const others = await entriesOf(query, authorization.requestId);
  const pending = others.filter((other) => other.kind === 'refund' && other.answer === Answer.ACCEPTED);
  const sumOf = (refunds: Entry[]) => refunds.reduce((sum, { amount }) => sum + amount, 0n);
  const ofCapture = sumOf(pending.filter(({ captureRequestId }) => captureRequestId === capture.requestId));
  const left = capture.amount - capture.refunded - capture.reversed - ofCapture;
  // What was taken back without a known capture limits them together.
  const leftOfAll = authorization.captured - authorization.refunded - authorization.reversed - sumOf(pending);
  if (intent.amount > left || intent.amount > leftOfAll) {
    return notPerformed(desk.now(), 'amount_exceeds_capture', 'The amount is more than what is left of the capture.');
  }
  return toStripe(intent.amount, intent.currency) === undefined ? amountRefusal(desk, intent) : undefined;
}
