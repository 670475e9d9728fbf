/** How a merchant's holds are answered, named and looked up. */
import type { z } from 'zod';
import { PreauthorizationSchema } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { Problem } from '../../http/problem.ts';
import { READ } from '../../http/problem-codes.ts';
import { answer, pageOf } from '../../resource/answer.ts';
import { answerPageOrCsv, CSV } from '../../resource/csv.ts';
import { isPreauthorizationId, isRequestId, notPreauthorizationId, notRequestId } from '../../resource/identifiers.ts';
import { HOLD, HoldFilters, ListedHold } from '../../resource/payments.ts';
import { ownMerchantId, preauthorizationId, requestId } from '../../resource/request-fields.ts';
import { restRoute } from '../route.ts';

/** A hold with its preauthorizationId, once it is placed. */
export const Hold = answer('Hold', PreauthorizationSchema, {
  ...HOLD,
  without: ['generatedTokenId', 'frozen', 'captures'],
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

const HoldPage = pageOf('HoldPage', 'Newest first', ListedHold, 'preauthorizations');

export const listPreauthorizations = restRoute('Holds', 'GET /preauthorization', {
  summary: 'List holds, newest first',
  description: 'Filters are joined by AND. Items do not carry `preauthorizationId`.',
  query: HoldFilters,
  answers: { 200: { description: 'A page', schema: HoldPage.schema, orText: CSV } },
  handler: ({ query, ...call }) =>
    answerPageOrCsv(call, ListedHold.schema, async (page) => {
      const request = { ...query, ...page, merchantId: call.merchantId };
      return HoldPage.json(await call.core.preauthorizations.listPreauthorizations(request));
    }),
});

const HoldWithCaptures = answer('HoldWithCaptures', PreauthorizationSchema, {
  ...HOLD,
  without: ['generatedTokenId', 'frozen'],
});

export const getPreauthorization = restRoute('Holds', 'GET /preauthorization/{requestId}', {
  summary: 'Look up a hold with its captures',
  description:
    'By its `requestId`. The answer carries `preauthorizationId` once the hold is placed, and the checkout page ' +
    'while that is open. Of captures the newest 50 are shown; `GET /operations` with `holdRequestId` and ' +
    '`operation=CAPTURE` lists the results of all.',
  answers: { 200: { description: 'The hold', schema: HoldWithCaptures.schema } },
  codes: [...READ, 'PREAUTHORIZATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ core, merchantId, params }) => {
    const { preauthorization } = await core.preauthorizations.getPreauthorization({ ...params, merchantId });
    return HoldWithCaptures.json(preauthorization);
  },
});
