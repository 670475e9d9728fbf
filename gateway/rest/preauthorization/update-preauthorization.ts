import { z } from 'zod';
import { WRITE } from '../../http/problem-codes.ts';
import { defined } from '../../resource/core-messages.ts';
import * as fields from '../../resource/request-fields.ts';
import { restRoute } from '../route.ts';
import { captureAt, Hold, metadata, releaseAt } from './hold.ts';

const UpdatePreauthorization = z
  .strictObject({
    merchantId: fields.ownMerchantId,
    captureAt: captureAt.nullable().optional(),
    releaseAt: releaseAt.nullable().optional(),
    description: fields.description.nullable().optional(),
    merchantReference: fields.merchantReference.nullable().optional(),
    metadata: metadata.nullable().optional(),
  })
  .refine(({ merchantId, ...change }) => Object.keys(change).length > 0, 'must change at least one field')
  .meta({ id: 'UpdatePreauthorization', description: 'Changes what is named; null takes it back' });

/** The names of the fields in core's mask. */
const MASK = {
  captureAt: 'capture_at',
  releaseAt: 'release_at',
  description: 'description',
  merchantReference: 'merchant_reference',
  metadata: 'metadata',
} as const;

export const updatePreauthorization = restRoute({
  method: 'patch',
  path: '/preauthorization/{requestId}',
  tag: 'Holds',
  summary: 'Change what a hold is for, or when it is captured or ends by itself',
  description:
    'Changes the fields that are named; null takes one back. `captureAt` and `releaseAt` can be changed while the ' +
    'hold is open, until they fall due (TIME_OUT_OF_RANGE, HOLD_EXPIRED). It makes no operation, and can be repeated.',
  parameters: { requestId: fields.requestId },
  body: UpdatePreauthorization,
  answers: { 200: { description: 'The hold as it is now', schema: Hold.schema } },
  codes: [
    ...WRITE,
    'PREAUTHORIZATION_NOT_FOUND',
    'HOLD_NOT_PLACED',
    'HOLD_EXPIRED',
    'HOLD_RELEASED',
    'HOLD_CAPTURED',
    'TIME_OUT_OF_RANGE',
    'SIGNATURE_REQUIRED',
  ],
  handler: async ({ core, merchantId, params: { requestId }, body }) => {
    const names = Object.keys(MASK) as (keyof typeof MASK)[];
    const paths = names.filter((name) => Object.hasOwn(body, name)).map((name) => MASK[name]);
    const given = names.filter((name) => body[name] != null).map((name) => [name, body[name]]);
    const { preauthorization } = await core.preauthorizations.updatePreauthorization(
      defined({ ...Object.fromEntries(given), merchantId, requestId, updateMask: { paths } }),
    );
    return Hold.json(preauthorization);
  },
});
