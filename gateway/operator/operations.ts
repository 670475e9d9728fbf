import { z } from 'zod';
import { OperationKind } from '../../proto/gen/holdfast/v1/operation_pb.js';
import {
  AcknowledgeContradictionsRequestSchema,
  CorrectOperationRequestSchema,
  ResolveOperationRequestSchema,
  ReviewItemSchema,
  ReviewReasonSchema,
} from '../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState, ProcessorErrorSchema } from '../../proto/gen/holdfast/v1/payment_pb.js';
import { eventStream, LAST_EVENT_ID, OPERATIONS, streamEvents } from '../event-stream/event-stream.ts';
import { CORRECT, READ } from '../http/problem-codes.ts';
import { answer, pageOf } from '../resource/answer.ts';
import { requestId } from '../resource/answer-fields.ts';
import { numberOf } from '../resource/contract-field.ts';
import { Contradiction, ContradictionPage } from '../resource/contradiction.ts';
import { answerPageOrCsv, CSV } from '../resource/csv.ts';
import { Operation, OperationFilters, OperationPage, operationPage } from '../resource/operation.ts';
import { Oct } from '../resource/payments.ts';
import { merchantId, page, textOf } from '../resource/request-fields.ts';
import { REVIEWED_KINDS } from '../resource/status-words.ts';
import { operatorRoute } from './route.ts';

const RESOLVE = ResolveOperationRequestSchema.field;

const ReviewItem = answer('ReviewItem', ReviewItemSchema, {
  parts: { contradictions: Contradiction },
  own: {
    operation: {
      schema: z
        .enum(REVIEWED_KINDS)
        .describe('What the operation does; absent when nothing here has the identifier that a processor names')
        .optional(),
      read: ({ kind }) => (kind === OperationKind.UNSPECIFIED ? undefined : OperationKind[kind]),
    },
  },
});

const ReviewPage = pageOf('ReviewPage', 'Oldest first', ReviewItem, 'items');

const Resolved = z
  .object({
    requestId,
    operation: Operation.schema.describe('Absent for the void of a late authorization').optional(),
    frozen: z.boolean().describe('Whether its hold is frozen'),
    overruled: z
      .boolean()
      .describe('The processor said otherwise: its word is the result of `operation`, and nothing else was changed'),
  })
  .meta({ id: 'Resolved' });

const Acknowledged = z
  .object({ requestId, acknowledged: z.int().min(1).describe('How many contradictions that resolved') })
  .meta({ id: 'Acknowledged' });

const CorrectedReview = z
  .object({
    requestId: requestId.describe('The operation that was corrected'),
    operation: Operation.schema.describe('The correction'),
    frozen: z.boolean().describe('Whether its hold is frozen'),
  })
  .meta({ id: 'Corrected' });

export const OPERATION_ROUTES = {
  listOperatorOperations: operatorRoute('overview', 'GET /operator/operations', {
    summary: 'List final results, newest first',
    description:
      'Of all merchants; filters are joined by AND. What has no result yet is not in it: see `/operator/reviews`.',
    query: OperationFilters.extend({ merchantId: merchantId.optional() }),
    answers: { 200: { description: 'A page', schema: OperationPage.schema, orText: CSV } },
    handler: ({ query, ...call }) =>
      answerPageOrCsv(call, Operation.schema, (page) =>
        operationPage(call.core, { ...query, ...page }, call.asOperator),
      ),
  }),
  watchOperatorOperations: operatorRoute('overview', 'GET /operator/operations/stream', {
    summary: 'Follow results as they are committed, of one merchant or all',
    description: 'Server-Sent Events as for merchants: `event: operation`, `id:` the token to resume from.',
    query: z.strictObject({ merchantId: merchantId.optional() }),
    headers: LAST_EVENT_ID,
    answers: { 200: eventStream(Operation.schema) },
    codes: [...READ, 'STREAM_TOKEN_TOO_OLD'],
    handler: async ({ ctx, operator, asOperator, query: { merchantId = '' }, ...call }) => {
      const reader = { merchantId, credential: 'operator', isLive: operator.isLive, ...asOperator };
      await streamEvents(ctx, call, reader, OPERATIONS);
    },
  }),
  getOperatorOperation: operatorRoute('overview', 'GET /operator/operations/{requestId}', {
    summary: 'Look up an operation, final or not',
    description: 'Of any kind, and any merchant. While `status` is not OK or KO there is no result yet.',
    answers: { 200: { description: 'The operation', schema: Operation.schema } },
    handler: async ({ core, asOperator, params }) =>
      Operation.json((await core.operations.getOperation(params, asOperator)).operation),
  }),
  getOperatorOct: operatorRoute('overview', 'GET /operator/oct/{requestId}', {
    summary: 'Look up an OCT',
    description: 'By its `requestId`, of any merchant, final or not.',
    answers: { 200: { description: 'The OCT', schema: Oct.schema } },
    handler: async ({ core, asOperator, params }) => Oct.json((await core.octs.getOct(params, asOperator)).oct),
  }),
  listReviews: operatorRoute('overview', 'GET /operator/reviews', {
    summary: 'List what waits for a decision: unknown outcomes, needs review, frozen holds, contradictions',
    description:
      'Oldest first; filters are joined by AND. Inquiries go on for UNKNOWN; the others wait until somebody resolves ' +
      'them. Each shows what its processor contradicted, while that is open.',
    query: z.strictObject({
      merchantId: merchantId.optional(),
      reason: numberOf(ReviewReasonSchema).optional(),
      ...page,
    }),
    answers: { 200: { description: 'A page', schema: ReviewPage.schema } },
    handler: async ({ core, asOperator, query }) =>
      ReviewPage.json(await core.operators.listReviewItems(query, asOperator)),
  }),
  resolveReview: operatorRoute('overview', 'POST /operator/reviews/{requestId}/resolve', {
    again: 'is refused as INVALID_REQUEST once the operation has its result',
    summary: 'Say how an operation ended, or unfreeze a hold',
    description:
      'Core first inquires at the processor, which from then on refuses an operation that it does not know. ' +
      'INVALID_REQUEST while it is still at work, or gives no answer and `unfenced` is not set. A result that it knows ' +
      'overrules the decision (`overruled`). Unfreezing a hold resolves its contradictions, with the reason.',
    body: z
      .strictObject({
        outcome: z
          .enum(['OK', 'KO'])
          .describe('How the operation ended; absent = only unfreeze')
          .transform((outcome) => OperationState[outcome])
          .optional(),
        reason: textOf(RESOLVE.reason).describe('How the operator knows; kept in the audit log'),
        processorReference: textOf(RESOLVE.processorReference).describe('With OK').optional(),
        bankReference: textOf(RESOLVE.bankReference).describe('With OK').optional(),
        processorCode: textOf(ProcessorErrorSchema.field.code).describe('With KO').optional(),
        processorMessage: textOf(ProcessorErrorSchema.field.message).describe('With KO').optional(),
        unfenced: z
          .boolean()
          .describe('Decide although the processor does not answer; it may perform the operation yet')
          .optional(),
        unfreezeHold: z.boolean().describe('The hold may be captured again').optional(),
      })
      .refine(({ outcome, unfreezeHold }) => outcome !== undefined || unfreezeHold === true, {
        path: ['outcome'],
        error: 'say how it ended, or that the hold is to be unfrozen',
      })
      .meta({ id: 'Resolve', description: 'Decides what no machine may guess' }),
    answers: { 200: { description: 'What was decided', schema: Resolved } },
    handler: async ({ ctx, core, asOperator, params: { requestId }, body }) => {
      const { processorCode: code = '', processorMessage: message = '', ...rest } = body;
      const request = { ...rest, requestId, ...((code || message) && { processorError: { code, message } }) };
      const { operation, frozen, overruled } = await core.operators.resolveOperation(request, asOperator);
      ctx.state.requestId = requestId;
      return { requestId, operation: operation && Operation.json(operation), frozen, overruled };
    },
  }),
  acknowledgeReview: operatorRoute('overview', 'POST /operator/reviews/{requestId}/acknowledge', {
    again: 'is refused as OPERATION_NOT_FOUND once nothing is open about it',
    summary: 'Note that somebody has looked at a contradiction',
    description:
      'Of what freezes no hold: an OCT of which its processor says another result, or an event that could not be ' +
      'booked. Nothing else changes. INVALID_REQUEST while its hold is frozen: unfreeze that.',
    body: z
      .strictObject({
        reason: textOf(AcknowledgeContradictionsRequestSchema.field.reason).describe(
          'What was found; kept with it and in the audit log',
        ),
      })
      .meta({ id: 'Acknowledge', description: 'Says that an operator has looked' }),
    answers: { 200: { description: 'It is noted', schema: Acknowledged } },
    handler: async ({ ctx, core, asOperator, params: { requestId }, body }) => {
      const { acknowledged } = await core.operators.acknowledgeContradictions({ ...body, requestId }, asOperator);
      ctx.state.requestId = requestId;
      return { requestId, acknowledged };
    },
  }),
  listContradictions: operatorRoute('overview', 'GET /operator/contradictions', {
    summary: 'List what a processor contradicted about an operation or a hold',
    description: 'Newest first, resolved or not: both sides, when and how it was told, who resolved it and why.',
    query: z.strictObject({ requestId, ...page }),
    answers: { 200: { description: 'A page', schema: ContradictionPage.schema } },
    handler: async ({ core, asOperator, query }) =>
      ContradictionPage.json(await core.operators.listContradictions(query, asOperator)),
  }),
  correctReview: operatorRoute('overview', 'POST /operator/reviews/{requestId}/correct', {
    again: 'is refused as OUTCOME_UNCHANGED once it is corrected',
    summary: 'Say that an operation ended otherwise than was told',
    description:
      'Of a capture, a partial release, an increment, a refund or an OCT that is final. Makes an operation of kind ' +
      'CORRECTION, of which the merchant is notified, moves the books, and unfreezes the hold. Refused with what is ' +
      'in the way when the books have no room for it.',
    body: z
      .strictObject({
        outcome: z
          .enum(['OK', 'KO'])
          .describe('How the operation ended in truth')
          .transform((outcome) => OperationState[outcome]),
        reason: textOf(CorrectOperationRequestSchema.field.reason).describe(
          'How the operator knows; kept in the audit log',
        ),
      })
      .meta({ id: 'Correct', description: 'Corrects a result that was told' }),
    answers: { 200: { description: 'The correction', schema: CorrectedReview } },
    codes: CORRECT,
    handler: async ({ ctx, core, asOperator, params: { requestId }, body }) => {
      const { operation, frozen } = await core.operators.correctOperation({ ...body, requestId }, asOperator);
      ctx.state.requestId = requestId;
      return { requestId, operation: Operation.json(operation), frozen };
    },
  }),
} as const;
