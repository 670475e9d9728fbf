import { z } from 'zod';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { WRITE } from '../../http/problem-codes.ts';
import { requestId } from '../../resource/answer-fields.ts';
import { Operation } from '../../resource/operation.ts';
import { text } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

export const ResolveBody = z
  .strictObject({
    outcome: z
      .enum(['OK', 'KO'])
      .meta({ description: 'How the operation ended; absent = only unfreeze' })
      .transform((outcome) => OperationState[outcome])
      .optional(),
    reason: text(500).meta({ description: 'How the operator knows; kept in the audit log' }),
    processorReference: text(64).meta({ description: 'With OK' }).optional(),
    bankReference: text(64).meta({ description: 'With OK' }).optional(),
    processorCode: text(64).meta({ description: 'With KO' }).optional(),
    processorMessage: text(500).meta({ description: 'With KO' }).optional(),
    unfenced: z
      .boolean()
      .meta({ description: 'Decide although the processor does not answer; it may perform the operation yet' })
      .optional(),
    unfreezeHold: z.boolean().meta({ description: 'The hold may be captured again' }).optional(),
  })
  .refine(({ outcome, unfreezeHold }) => outcome !== undefined || unfreezeHold === true, {
    path: ['outcome'],
    error: 'say how it ended, or that the hold is to be unfrozen',
  })
  .meta({ id: 'Resolve', description: 'Decides what no machine may guess' });

const Resolved = z
  .object({
    requestId,
    operation: Operation.schema.meta({ description: 'Absent for the void of a late authorization' }).optional(),
    frozen: z.boolean().meta({ description: 'Whether its hold is frozen' }),
  })
  .meta({ id: 'Resolved' });

export const resolveReview = operatorRoute({
  method: 'post',
  path: '/operator/reviews/{requestId}/resolve',
  tag: 'Operators: overview',
  summary: 'Say how an operation ended, or unfreeze a hold',
  description:
    'The processor is asked once more before, and from then on refuses an operation that it does not know. ' +
    'INVALID_REQUEST where it says otherwise, is still at work, or gives no answer and `unfenced` is not set.',
  parameters: { requestId },
  body: ResolveBody,
  answers: { 200: { description: 'What was decided', schema: Resolved } },
  codes: [...WRITE, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ ctx, core, asOperator, params: { requestId }, body }) => {
    const { processorCode: code = '', processorMessage: message = '', ...rest } = body;
    const request = { ...rest, requestId, ...((code || message) && { processorError: { code, message } }) };
    const { operation, frozen } = await core.operators.resolveOperation(request, asOperator);
    ctx.state.requestId = requestId;
    ctx.body = { requestId, operation: operation && Operation.json(operation), frozen };
  },
});
