import { EXTENSION } from '../../http/problem-codes.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { actOutcome } from '../../resource/hold.ts';
import { KEYED, REPLAYED, readIdempotencyKey } from '../../resource/idempotency-key.ts';
import { NoBody } from '../../resource/request-fields.ts';
import { inProgress, WRITE_PROMISES, writeOperation } from '../../resource/write-operation.ts';
import { operatorRoute } from '../route.ts';
import { OperatorHold } from './operator-hold.ts';

const OperatorExtendedHold = OperatorHold.schema
  .extend({
    extensionRequestId: requestId.meta({ description: 'Names the extension' }),
  })
  .meta({ id: 'OperatorExtendedHold' });

export const extendHold = operatorRoute({
  method: 'post',
  path: '/operator/holds/{requestId}/extend',
  tag: 'Operators: holds',
  summary: 'Let a hold end later',
  description:
    "For a merchant: after the contract's hold period from now, or when the processor says, if that is earlier; never " +
    'earlier than before.',
  parameters: { requestId },
  headers: KEYED,
  body: NoBody,
  answers: {
    200: { description: 'The hold with its new `expiresAt`', schema: OperatorExtendedHold, headers: REPLAYED },
    202: inProgress('/operator/operations/{requestId}'),
  },
  codes: EXTENSION,
  promises: WRITE_PROMISES,
  handler: async ({ ctx, core, asOperator, params }) => {
    const request = { ...readIdempotencyKey(ctx), ...params };
    await writeOperation(ctx, async (name) => {
      const extension = await core.preauthorizations.extendPreauthorization({ ...request, ...name }, asOperator);
      return actOutcome(extension, (hold, extensionRequestId) => ({ ...OperatorHold.json(hold), extensionRequestId }));
    });
  },
});
