import { RELEASE } from '../../http/problem-codes.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { actOutcome } from '../../resource/hold.ts';
import { KEYED, REPLAYED, readIdempotencyKey } from '../../resource/idempotency-key.ts';
import { NoBody } from '../../resource/request-fields.ts';
import { inProgress, WRITE_PROMISES, writeOperation } from '../../resource/write-operation.ts';
import { operatorRoute } from '../route.ts';
import { OperatorHold } from './operator-hold.ts';

const OperatorReleasedHold = OperatorHold.schema
  .extend({
    releaseRequestId: requestId.meta({ description: 'Names the release' }).optional(),
  })
  .meta({ id: 'OperatorReleasedHold' });

export const releaseHold = operatorRoute({
  method: 'post',
  path: '/operator/holds/{requestId}/release',
  tag: 'Operators: holds',
  summary: 'Give back what remains of a hold, or cancel its checkout',
  description:
    'A placed hold is released at the processor; one whose customer has not entered a card loses its checkout. ' +
    'Refused as CAPTURE_IN_FLIGHT while a capture or release of it has no result, and as HOLD_FROZEN while it is frozen.',
  parameters: { requestId },
  headers: KEYED,
  body: NoBody,
  answers: {
    200: { description: 'Released', schema: OperatorReleasedHold, headers: REPLAYED },
    202: inProgress('/operator/operations/{requestId}'),
  },
  codes: RELEASE,
  promises: WRITE_PROMISES,
  handler: async ({ ctx, core, asOperator, params }) => {
    const request = { ...readIdempotencyKey(ctx), ...params };
    await writeOperation(ctx, async (name) => {
      const release = await core.preauthorizations.releasePreauthorization({ ...request, ...name }, asOperator);
      return actOutcome(release, (hold, releaseRequestId) => ({ ...OperatorHold.json(hold), releaseRequestId }));
    });
  },
});
