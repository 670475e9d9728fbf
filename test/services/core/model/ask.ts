/** Sends a run's commands to core, and reduces each answer to one word. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { GrpcCall } from '../../../../platform/grpc-client.ts';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import {
  HoldStatus,
  type Preauthorization,
  ThreeDSecure,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { refusal } from '../stage.ts';
import type { HoldModel } from './hold-model.ts';
import type { Sent } from './sent.ts';
import { saidBy } from './words.ts';
import type { World } from './world.ts';

/** The clients of one core. */
export type Clients = World['fullCore'];

/** The record that a command is about. */
export interface Asked {
  readonly merchantId: string;
  readonly userId: string;
  readonly requestId: string;
  readonly preauthorizationId: string;
  readonly model: HoldModel;
}

/**
 * Sends a command. Returns a word, and for a capture or a change the hold right after it; rejects when it is refused.
 */
export async function askCore(
  { holds, octs, refunds }: Clients,
  asked: Asked,
  sent: Sent,
  call: GrpcCall,
): Promise<string> {
  const { merchantId, userId, requestId, preauthorizationId, model } = asked;
  const keyed = { merchantId, idempotencyKey: sent.key };
  const { currency } = sent;
  const common = { ...keyed, ...saidBy(sent), ...(currency && { currency }) };
  if (sent.do === 'capture') {
    const charge = { ...common, preauthorizationId, amountToCapture: BigInt(sent.amount), finalCapture: sent.final };
    const { capture } = await holds.capturePreauthorization(charge, call);
    if (capture?.state !== OperationState.OK) return word(capture?.state);
    const { amountRemaining, amountReleased, preauthorizationStatus } = capture;
    return `OK ${amountRemaining}/${amountReleased}/${HoldStatus[preauthorizationStatus]}`;
  }
  if (sent.do === 'refund') {
    const asking = { ...common, captureRequestId: sent.captureRequestId ?? '', amount: BigInt(sent.amount) };
    return word((await refunds.createRefund(asking, call)).refund?.state);
  }
  if (sent.do === 'release') return word((await holds.releasePreauthorization({ ...common, requestId }, call)).state);
  if (sent.do === 'release a part') {
    const part = { ...common, requestId, amountToRelease: BigInt(sent.amount) };
    return word((await holds.partiallyReleasePreauthorization(part, call)).state);
  }
  if (sent.do === 'increment') {
    return changed(
      await holds.incrementPreauthorization({ ...common, preauthorizationId, amountToAdd: BigInt(sent.amount) }, call),
    );
  }
  if (sent.do === 'extension')
    return changed(await holds.extendPreauthorization({ ...keyed, preauthorizationId }, call));
  if (sent.do === 'update') {
    await holds.updatePreauthorization(updateOf(merchantId, requestId, sent), call);
    return 'OK';
  }
  if (sent.do === 'renew') {
    const renewal = {
      ...keyed,
      ...(currency && { currency }),
      requestId: sent.renews ?? '',
      ...(sent.amount > 0 && { amount: BigInt(sent.amount) }),
    };
    return word((await holds.renewPreauthorization(renewal, call)).state);
  }
  const place = { ...keyed, amount: BigInt(sent.amount), currency: 'EUR', terminalId: 'T1', userId };
  const tokenId = `tok_sandbox_${model.token}`;
  if (model.kind === 'OCT')
    return word((await octs.createOct({ ...place, tokenId, ...saidBy(sent) }, call)).oct?.state);
  const hold = { ...place, ...timesOf(sent), ...(!model.byCheckout && { tokenId }), ...(model.stepUp && STEP_UP) };
  return word((await holds.createPreauthorization(hold, call)).state);
}

const STEP_UP = {
  customerPresent: true,
  returnUrl: 'https://shop.example/done',
  threeDSecure: ThreeDSecure.CHALLENGE,
};

/** The times that a command names; one that is 0 is left out. */
function timesOf({ terms: { captureAt = 0, releaseAt = 0, keepUntil = 0 } = {} }: Sent) {
  return {
    ...(captureAt > 0 && { captureAt: timestampFromMs(captureAt) }),
    ...(releaseAt > 0 && { releaseAt: timestampFromMs(releaseAt) }),
    ...(keepUntil > 0 && { keepUntil: timestampFromMs(keepUntil) }),
  };
}

function updateOf(merchantId: string, requestId: string, sent: Sent) {
  const { captureAt, releaseAt, keepUntil } = sent.terms ?? {};
  const paths = [
    ...(captureAt === undefined ? [] : ['capture_at']),
    ...(releaseAt === undefined ? [] : ['release_at']),
    ...(keepUntil === undefined ? [] : ['keep_until']),
  ];
  return { merchantId, requestId, ...timesOf(sent), updateMask: { paths } };
}

function changed(answer: {
  readonly state: OperationState;
  readonly preauthorization?: Preauthorization | undefined;
}): string {
  const { state, preauthorization: hold } = answer;
  if (state !== OperationState.OK || !hold) return word(state);
  return `OK ${hold.amountRemaining}/${hold.amountReleased}/${HoldStatus[hold.status]}`;
}

/** Returns the answer, or the word of the refusal. Unexpected errors have no word in the model. */
export async function answerOf(answer: Promise<string> | string): Promise<string> {
  try {
    return await answer;
  } catch (error) {
    const { reason, status } = await refusal(Promise.reject(error));
    return status === 'INTERNAL' ? 'CRASHED' : reason || status;
  }
}

/** Returns the word of a state. */
function word(state: OperationState | undefined): string {
  return OperationState[state ?? 0] ?? '';
}
