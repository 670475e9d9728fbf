import type { HoldBooks } from '../domain/hold.ts';
import { identifierOf } from '../domain/operation.ts';
import { findCapture } from '../storage/capture/capture.ts';
import type { HoldRow } from '../storage/hold/hold.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import type { Kind, Named } from './kind.ts';

/** A capture with its hold. */
export interface CaptureFacts extends Named {
  /** Minor units. */
  readonly amount: bigint;
  readonly finalCapture: boolean;
  readonly hold: HoldRow;
}

/** Captures: the hold's books right after it are what ending one tells. */
export const CAPTURE: Kind<CaptureFacts, HoldBooks> = {
  table: 'capture',
  operationOf: () => 'CAPTURE',
  holdOf: ({ hold }) => hold.requestId,
  async find(query, requestId) {
    const capture = await findCapture(query, requestId);
    const hold = capture && (await findHold(query, capture.holdRequestId));
    return hold && { ...capture, hold };
  },
  call: (processor, { hold, ...capture }) =>
    processor.send('capture', {
      requestId: identifierOf(capture),
      authorizationRequestId: identifierOf(hold),
      merchantId: hold.merchantId,
      account: capture.processorAccount,
      terminalId: hold.terminalId,
      userId: hold.userId,
      tokenId: hold.tokenId ?? '',
      amount: capture.amount,
      currency: hold.currency,
      finalCapture: capture.finalCapture || !hold.allowMultipleCaptures,
    }),
  settle: ({ books }, { requestId, amount, finalCapture, hold }, outcome, at) => {
    const holdKey = hold.idHash.toString('hex');
    return books.settleCapture({
      requestId,
      holdRequestId: hold.requestId,
      holdKey,
      amount,
      finalCapture,
      outcome,
      at,
    });
  },
};
