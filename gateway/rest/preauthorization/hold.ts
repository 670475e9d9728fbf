/** The names of holds in merchants' requests, and the answers about them. */
import type { z } from 'zod';
import { PreauthorizationSchema } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { Problem } from '../../http/problem.ts';
import { answer } from '../../resource/answer.ts';
import { isPreauthorizationId, isRequestId, notPreauthorizationId, notRequestId } from '../../resource/identifiers.ts';
import { HOLD, OF_ONE_HOLD } from '../../resource/payments.ts';
import { ownMerchantId, preauthorizationId, requestId } from '../../resource/request-fields.ts';

/** A hold with its preauthorizationId, once it is placed. */
export const Hold = answer('Hold', PreauthorizationSchema, {
  ...HOLD,
  without: ['generatedTokenId', 'frozen', ...OF_ONE_HOLD],
});

/** Fields of a body that names a hold by one of the two. */
export const EITHER_ID = {
  merchantId: ownMerchantId,
  preauthorizationId: preauthorizationId.optional(),
  requestId: requestId.optional(),
};

/** The same for the document. */
export const ONE_ID = { oneOf: [{ required: ['preauthorizationId'] }, { required: ['requestId'] }] };

interface Ids {
  readonly preauthorizationId?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Refuses a body that has neither or both. */
export function demandOneId({ preauthorizationId, requestId }: Ids, ctx: z.RefinementCtx): void {
  if ((preauthorizationId === undefined) !== (requestId === undefined)) return;
  const message = requestId === undefined ? 'is required, or else requestId' : 'must be left out beside requestId';
  ctx.addIssue({ code: 'custom', path: ['preauthorizationId'], message: `${message}: one of the two` });
}

/**
 * The hold that a body names, for core. Throws PREAUTHORIZATION_NOT_FOUND, without a call to core, for what names none.
 */
export function namedHold({ preauthorizationId = '', requestId = '' }: Ids) {
  if (!isPreauthorizationId(preauthorizationId) && !isRequestId(requestId)) {
    const detail = notPreauthorizationId(preauthorizationId) ?? notRequestId(requestId);
    throw new Problem('PREAUTHORIZATION_NOT_FOUND', { detail });
  }
  return { preauthorizationId, requestId };
}
