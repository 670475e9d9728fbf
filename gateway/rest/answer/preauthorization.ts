import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import {
  type Capture,
  HoldStatus,
  type Preauthorization,
  ReleaseReason,
} from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { money, paymentMethodData, processorFields, some, time } from './words.ts';

/** A hold, without its captures. */
export function holdJson(hold: Preauthorization) {
  const { requestId, ...rest } = listedHoldJson(hold);
  return { requestId, preauthorizationId: some(hold.preauthorizationId), ...rest };
}

/** A hold in a list: without the handle that captures it, which only the hold's own answers carry. */
export function listedHoldJson(hold: Preauthorization) {
  return {
    requestId: hold.requestId,
    status: HoldStatus[hold.status],
    amount: money(hold.amount),
    currency: hold.currency,
    amountCaptured: money(hold.amountCaptured),
    amountInFlight: money(hold.amountInFlight),
    amountRemaining: money(hold.amountRemaining),
    amountReleased: money(hold.amountReleased),
    amountReversed: money(hold.amountReversed),
    merchantId: hold.merchantId,
    terminalId: hold.terminalId,
    userId: hold.userId,
    merchantReference: some(hold.merchantReference),
    metadata: Object.keys(hold.metadata).length > 0 ? hold.metadata : undefined,
    ...checkoutFields(hold),
    createdAt: time(hold.createdAt),
    placedAt: time(hold.placedAt),
    expiresAt: time(hold.expiresAt),
    closedAt: time(hold.closedAt),
    releaseReason: hold.releaseReason ? ReleaseReason[hold.releaseReason] : undefined,
    paymentMethodData: paymentMethodData(hold.paymentMethod),
    tokenData: hold.generatedTokenId ? { tokenId: hold.generatedTokenId } : undefined,
    reference: some(hold.processorReference),
    ...processorFields(hold.processorError),
  };
}

/** Where the customer enters a card, while that is possible. */
export function checkoutFields(hold: Preauthorization) {
  if (hold.checkoutUrl === '') return {};
  return { checkoutUrl: hold.checkoutUrl, checkoutExpiresAt: time(hold.checkoutExpiresAt) };
}

/** A capture. What only a success has (captureDate, bankReference, amounts, preauthorizationStatus) stands only there. */
export function captureJson(capture: Capture) {
  return {
    requestId: capture.requestId,
    holdRequestId: capture.holdRequestId,
    status: OperationState[capture.state],
    amount: money(capture.amount),
    currency: capture.currency,
    finalCapture: capture.finalCapture,
    ...(capture.state === OperationState.OK && successFields(capture)),
    reference: some(capture.processorReference),
    ...processorFields(capture.processorError),
    reversed: capture.reversed,
    createdAt: time(capture.createdAt),
  };
}

function successFields(capture: Capture) {
  return {
    captureDate: time(capture.captureDate),
    amountCaptured: money(capture.amount),
    amountRemaining: money(capture.amountRemaining),
    amountReleased: money(capture.amountReleased),
    bankReference: some(capture.bankReference),
    preauthorizationStatus: HoldStatus[capture.preauthorizationStatus],
  };
}
