import assert from 'node:assert/strict';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { MerchantReason, ThreeDSecure } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Facts, HoldFacts, SubmissionFacts } from '../books/facts.ts';
import { pointOf } from '../domain/crash-points.ts';
import type { SubmissionKind } from '../domain/kinds.ts';
import { identifierOf, type Outcome } from '../domain/outcome.ts';
import type { Processor } from '../processor/processor.ts';
import type { WrittenHold } from '../storage/hold/hold-row.ts';
import type { Sender } from './sender.ts';

/** Sends a stored operation to its processor. The outcome may be unknown; nothing here guesses. */
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
  CAPTURE(processor, capture) {
    const { amount, currency, finalCapture } = capture;
    const { terminalId, userId, tokenId, allowMultipleCaptures } = holdOf(capture);
    return processor.send('capture', {
      ...onAuthorization(capture),
      terminalId,
      userId,
      tokenId: tokenId ?? '',
      amount,
      currency,
      finalCapture: finalCapture || !allowMultipleCaptures,
      ...referenceOf(capture),
    });
  },
  RELEASE: sendVoid,
  PARTIAL_RELEASE: (processor, release) => {
    const { amount, currency } = release;
    const what = { amount, currency, ...referenceOf(release) };
    return processor.send('decreaseAuthorization', { ...onAuthorization(release), ...what });
  },
  EXPIRY: sendVoid,
  LATE_VOID: sendVoid,
  REFUND(processor, refund) {
    const { amount, currency, capture } = refund;
    assert(capture, 'a refund has a capture');
    const captureRequestId = identifierOf(capture);
    const what = { captureRequestId, amount, currency, ...referenceOf(refund) };
    return processor.send('refund', { ...onAuthorization(refund), ...what });
  },
  INCREMENT: (processor, increment) => {
    const { amount, currency } = increment;
    const what = { amount, currency, ...referenceOf(increment) };
    return processor.send('incrementAuthorization', { ...onAuthorization(increment), ...what });
  },
  EXTENSION: (processor, extension) => processor.send('extendAuthorization', onAuthorization(extension)),
  RENEWAL(processor, renewal) {
    const hold = holdOf(renewal);
    const { amount, currency } = renewal;
    return processor.send('authorize', {
      ...named(renewal),
      terminalId: hold.terminalId,
      userId: hold.userId,
      tokenId: hold.tokenId ?? '',
      amount,
      currency,
      ...referenceOf({ ...hold, kind: 'HOLD' }),
      description: hold.description ?? '',
      merchantReason: MerchantReason.REAUTHORIZATION,
      networkTransactionId: hold.networkTransactionId ?? hold.sentNetworkTransactionId ?? '',
      renews: onAuthorization(renewal).authorizationRequestId,
    });
  },
  OCT(processor, oct) {
    const { amount, currency } = oct;
    return processor.send('credit', {
      ...named(oct),
      terminalId: oct.terminalId ?? '',
      userId: oct.userId ?? '',
      tokenId: oct.tokenId ?? '',
      amount,
      currency,
      ...referenceOf(oct),
    });
  },
};

function sendHold(processor: Processor, hold: HoldFacts): Promise<Outcome> {
  const { terminalId, userId, amount, currency, expectedCaptureAt, checkoutExpiresAt } = hold;
  return processor.send('authorize', {
    ...named(hold),
    terminalId,
    userId,
    tokenId: hold.tokenId ?? '',
    amount,
    currency,
    ...referenceOf(hold),
    memo: hold.idKey,
    description: hold.description ?? '',
    customerPresent: hold.customerPresent,
    merchantReason: MerchantReason[hold.merchantReason ?? 'UNSPECIFIED'],
    networkTransactionId: hold.sentNetworkTransactionId ?? '',
    ...(expectedCaptureAt != null && { expectedCaptureAt: timestampFromDate(expectedCaptureAt) }),
    returnUrl: hold.returnUrl ?? '',
    threeDSecure: hold.challenge ? ThreeDSecure.CHALLENGE : ThreeDSecure.UNSPECIFIED,
    ...(checkoutExpiresAt != null && { actionExpiresAt: timestampFromDate(checkoutExpiresAt) }),
  });
}

/** A void by the processor itself is not sent: the processor has reported the amount given back. */
async function sendVoid(processor: Processor, facts: SubmissionFacts): Promise<Outcome> {
  if (!facts.reported) return processor.send('void', { ...onAuthorization(facts), ...referenceOf(facts) });
  const { processorReference: reference, amountReleased } = facts;
  return {
    answer: 'APPROVED',
    reference: reference ?? '',
    bankReference: '',
    amountReleased: amountReleased ?? undefined,
  };
}

/** The merchant's own reference of this operation, not the hold's. */
function referenceOf({ merchantReference }: Facts) {
  return { merchantReference: merchantReference ?? '' };
}

/** The fields of every call: what it is called at the processor and here, and whose it is. */
export function named(facts: Pick<Facts, 'requestId' | 'processorRequestId' | 'merchantId' | 'processorAccount'>) {
  const { requestId: operationRequestId, merchantId, processorAccount: account } = facts;
  return { requestId: identifierOf(facts), operationRequestId, merchantId, account };
}

/** The fields of every call about an authorization. */
function onAuthorization(submission: SubmissionFacts) {
  const { authorization = holdOf(submission) } = submission;
  const authorizationReference = authorization.processorReference ?? '';
  return { ...named(submission), authorizationRequestId: identifierOf(authorization), authorizationReference };
}

function holdOf({ hold }: SubmissionFacts): WrittenHold {
  assert(hold, 'it has a hold');
  return hold;
}
