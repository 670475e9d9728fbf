import assert from 'node:assert/strict';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { pointOf } from '../domain/crash-points.ts';
import type { SubmissionKind } from '../domain/kinds.ts';
import { type Approved, identifierOf, type Outcome } from '../domain/outcome.ts';
import type { Processor } from '../processor/processor.ts';
import type { Facts, HoldFacts, Sender, SubmissionFacts } from './facts.ts';

/** Sends what is stored to its processor. Its outcome may be unknown; nothing here guesses. */
export async function send({ processors, reach }: Sender, facts: Facts): Promise<Outcome> {
  const { kind } = facts;
  if (kind !== 'LATE_VOID') reach(pointOf(kind, 'stored'));
  const outcome = await sendTo(processors.of(facts), facts);
  if (kind !== 'LATE_VOID') reach(pointOf(kind, 'answered'));
  return outcome;
}

/** The call to the processor. */
export function sendTo(processor: Processor, facts: Facts): Promise<Outcome> {
  return facts.kind === 'HOLD' ? sendHold(processor, facts) : SEND[facts.kind](processor, facts);
}

type Send = (processor: Processor, facts: SubmissionFacts) => Promise<Outcome>;

/** The calls, by kind. */
const SEND: Readonly<Record<SubmissionKind, Send>> = {
  CAPTURE(processor, { hold, ...capture }) {
    assert(hold, 'a capture has a hold');
    return processor.send('capture', {
      requestId: identifierOf(capture),
      operationRequestId: capture.requestId,
      authorizationRequestId: identifierOf(hold),
      merchantId: hold.merchantId,
      account: capture.processorAccount,
      terminalId: hold.terminalId,
      userId: hold.userId,
      tokenId: hold.tokenId ?? '',
      amount: capture.amount,
      currency: hold.currency,
      finalCapture: capture.finalCapture || !hold.allowMultipleCaptures,
    });
  },
  RELEASE: sendVoid,
  EXPIRY: sendVoid,
  LATE_VOID: sendVoid,
  REFUND(processor, { hold, capture, ...refund }) {
    assert(hold && capture, 'a refund has a capture and its hold');
    return processor.send('refund', {
      requestId: identifierOf(refund),
      captureRequestId: identifierOf(capture),
      authorizationRequestId: identifierOf(hold),
      merchantId: hold.merchantId,
      account: refund.processorAccount,
      amount: refund.amount,
      currency: hold.currency,
      operationRequestId: refund.requestId,
    });
  },
  INCREMENT: (processor, increment) => {
    const { amount, currency } = increment;
    return processor.send('incrementAuthorization', { ...onAuthorization(increment), amount, currency });
  },
  EXTENSION: (processor, extension) => processor.send('extendAuthorization', onAuthorization(extension)),
  OCT(processor, { processorAccount: account, ...oct }) {
    const { merchantId, amount, currency } = oct;
    const [terminalId, userId, tokenId] = [oct.terminalId ?? '', oct.userId ?? '', oct.tokenId ?? ''];
    return processor.send('credit', {
      requestId: identifierOf(oct),
      merchantId,
      account,
      terminalId,
      userId,
      tokenId,
      amount,
      currency,
      merchantReference: oct.merchantReference ?? '',
      operationRequestId: oct.requestId,
    });
  },
};

function sendHold(processor: Processor, { processorAccount: account, ...hold }: HoldFacts): Promise<Outcome> {
  const { merchantId, terminalId, userId, amount, currency, expectedCaptureAt } = hold;
  return processor.send('authorize', {
    requestId: identifierOf(hold),
    merchantId,
    account,
    terminalId,
    userId,
    tokenId: hold.tokenId ?? '',
    amount,
    currency,
    merchantReference: hold.merchantReference ?? '',
    operationRequestId: hold.requestId,
    memo: hold.idKey,
    description: hold.description ?? '',
    customerPresent: hold.customerPresent,
    ...(expectedCaptureAt != null && { expectedCaptureAt: timestampFromDate(expectedCaptureAt) }),
  });
}

/** What the processor did by itself is not sent. */
async function sendVoid(processor: Processor, facts: SubmissionFacts): Promise<Outcome> {
  return facts.reported ? reportedVoid(facts) : processor.send('void', onAuthorization(facts));
}

/** The fields of every call about an authorization that needs no more of the hold. */
function onAuthorization({ hold, ...submission }: SubmissionFacts) {
  assert(hold, 'it has a hold');
  return {
    requestId: identifierOf(submission),
    operationRequestId: submission.requestId,
    authorizationRequestId: identifierOf(hold),
    merchantId: submission.merchantId,
    account: submission.processorAccount,
  };
}

/** What the processor reported when it ended an authorization by itself. */
function reportedVoid({
  amountReleased,
  processorReference,
}: Pick<SubmissionFacts, 'amountReleased' | 'processorReference'>): Approved {
  const reference = processorReference ?? '';
  return { answer: 'APPROVED', reference, bankReference: '', amountReleased: amountReleased ?? undefined };
}
