/** Holds of all merchants, and what operators do to a hold or a capture for its merchant, by its requestId. */
import { z } from 'zod';
import { NextActionSchema, PreauthorizationSchema } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { CAPTURE, EXTENSION, INCREMENT, READ, REFUND, RELEASE_OF_PART } from '../http/problem-codes.ts';
import { answer, pageOf } from '../resource/answer.ts';
import { answered, requestId } from '../resource/answer-fields.ts';
import { Contradiction } from '../resource/contradiction.ts';
import { answerPageOrCsv, CSV } from '../resource/csv.ts';
import { Delivery } from '../resource/delivery.ts';
import { Operation } from '../resource/operation.ts';
import {
  AUTHORIZATIONS,
  answerChange,
  answerIncrement,
  Capture,
  HOLD,
  HoldFilters,
  Increment,
  OF_ONE_HOLD,
  RELEASE,
  Refund,
  release,
  releaseIn,
} from '../resource/payments.ts';
import {
  amount,
  amountToRelease,
  currencyOfHold,
  merchantId,
  NoBody,
  requestIdFilter,
  words,
} from '../resource/request-fields.ts';
import { answerOperation } from '../resource/write-operation.ts';
import { operatorRoute, operatorWrite } from './route.ts';

const OperatorHold = answer('OperatorHold', PreauthorizationSchema, {
  about: 'A hold as operators see it: nothing that could capture or pay',
  parts: { ...HOLD.parts, nextAction: answer(undefined, NextActionSchema, { without: ['url'] }) },
  without: ['preauthorizationId', 'generatedTokenId', 'checkoutUrl', ...OF_ONE_HOLD],
});

const OperatorHoldPage = pageOf('OperatorHoldPage', 'Newest first', OperatorHold, 'preauthorizations');

const OperatorHoldStory = OperatorHold.schema
  .extend({
    captures: z.array(Capture.schema).describe('The newest 50, oldest first'),
    authorizations: AUTHORIZATIONS.schema,
    operations: z.array(Operation.schema).describe('What became of it, oldest first; the first is the hold itself'),
    contradictions: z
      .array(Contradiction.schema)
      .describe('What its processor contradicted, oldest first; at most the newest 200'),
    deliveries: z.array(Delivery.schema).describe('Its notifications, oldest first, at most 200; without attempts'),
  })
  .meta({ id: 'OperatorHoldStory' });

const pageSize = 200;

const OperatorExtendedHold = OperatorHold.schema
  .extend({ extensionRequestId: requestId.describe('Names the extension') })
  .meta({ id: 'OperatorExtendedHold' });

const OperatorReleasedHold = OperatorHold.schema
  .extend({ releaseRequestId: requestId.describe('Names the release').optional(), ...RELEASE })
  .meta({ id: 'OperatorReleasedHold' });

export const HOLD_ROUTES = {
  listHolds: operatorRoute('holds', 'GET /operator/holds', {
    summary: 'Search holds',
    description: 'Of all merchants, newest first; filters are joined by AND. Items do not carry `preauthorizationId`.',
    query: HoldFilters.extend({
      requestId: requestIdFilter.optional(),
      merchantId: merchantId.optional(),
    }),
    answers: { 200: { description: 'A page', schema: OperatorHoldPage.schema, orText: CSV } },
    handler: ({ query, ...call }) =>
      answerPageOrCsv(call, OperatorHold.schema, async (page) => {
        const request = { ...query, ...page };
        return OperatorHoldPage.json(await call.core.preauthorizations.listPreauthorizations(request, call.asOperator));
      }),
  }),
  getHold: operatorRoute('holds', 'GET /operator/holds/{requestId}', {
    summary: 'Look up a hold with its captures, operations, contradictions and deliveries',
    description:
      'Of captures the newest 50 are shown, of operations and deliveries the newest 200; the lists of operations and ' +
      'deliveries have the rest. Nothing in it could capture the hold or pay with its card.',
    answers: { 200: { description: 'The hold', schema: OperatorHoldStory } },
    codes: [...READ, 'PREAUTHORIZATION_NOT_FOUND', 'RECONCILING'],
    handler: async ({ ctx, core, asOperator, params: { requestId } }) => {
      const { preauthorization } = await core.preauthorizations.getPreauthorization({ requestId }, asOperator);
      const hold = answered(preauthorization);
      const [own, rest, sent, contradicted] = await Promise.all([
        core.operations.getOperation({ requestId }, asOperator),
        core.operations.listOperations({ holdRequestId: requestId, pageSize }, asOperator),
        core.notifications.listDeliveries({ holdRequestId: requestId, pageSize }, asOperator),
        core.operators.listContradictions({ requestId, pageSize }, asOperator),
      ]);
      const operations = [...(own.operation ? [own.operation] : []), ...rest.operations.toReversed()];
      ctx.state.requestId = requestId;
      return {
        ...OperatorHold.json(hold),
        captures: hold.captures.map(Capture.json),
        authorizations: AUTHORIZATIONS.read(hold),
        operations: operations.map(Operation.json),
        contradictions: contradicted.contradictions.toReversed().map(Contradiction.json),
        deliveries: sent.deliveries.toReversed().map(Delivery.json),
      };
    },
  }),
  captureHold: operatorWrite('holds', 'POST /operator/holds/{requestId}/capture', {
    summary: 'Capture a hold',
    description:
      "For a merchant, by the hold's `requestId` and without a message signature. Unless the contract has " +
      '`allowMultipleCaptures: true`, the first capture closes the hold and releases what is left.',
    body: z
      .strictObject({
        amountToCapture: amount,
        currency: currencyOfHold,
        finalCapture: z.boolean().describe('Close the hold with this capture').optional(),
        ...words,
      })
      .meta({ id: 'CaptureHold', description: 'Charges a hold in full or in part' }),
    answers: { 200: { description: 'Captured', schema: Capture.schema } },
    codes: CAPTURE,
    handler: async ({ ctx, core, asOperator, params, body: { finalCapture = false, ...asked }, name }) => {
      const request = { ...params, ...asked, finalCapture, ...name };
      const { capture, replayed } = await core.preauthorizations.capturePreauthorization(request, asOperator);
      return answerOperation(ctx, answered(capture), replayed, Capture.json);
    },
  }),
  incrementHold: operatorWrite('holds', 'POST /operator/holds/{requestId}/increment', {
    summary: 'Add to a hold',
    description: "For a merchant, by the hold's `requestId`. What is added can be captured once the increment is OK.",
    body: z
      .strictObject({ amountToAdd: amount, currency: currencyOfHold, ...words })
      .meta({ id: 'IncrementHold', description: 'Adds to a hold' }),
    answers: { 200: { description: 'Added', schema: Increment } },
    codes: INCREMENT,
    handler: async ({ ctx, core, asOperator, params, body, name }) => {
      const request = { ...params, ...body, ...name };
      const increment = await core.preauthorizations.incrementPreauthorization(request, asOperator);
      return answerIncrement(ctx, increment, body.amountToAdd);
    },
  }),
  extendHold: operatorWrite('holds', 'POST /operator/holds/{requestId}/extend', {
    summary: 'Let a hold end later',
    description:
      "For a merchant: after the contract's hold period from now, or when the processor says, if that is earlier; " +
      'never earlier than before.',
    body: NoBody,
    answers: { 200: { description: 'The hold with its new `expiresAt`', schema: OperatorExtendedHold } },
    codes: EXTENSION,
    handler: async ({ ctx, core, asOperator, params, name }) => {
      const extension = await core.preauthorizations.extendPreauthorization({ ...params, ...name }, asOperator);
      return answerChange(ctx, extension, (hold, extensionRequestId) => ({
        ...OperatorHold.json(hold),
        extensionRequestId,
      }));
    },
  }),
  releaseHold: operatorWrite('holds', 'POST /operator/holds/{requestId}/release', {
    summary: 'Give back what remains of a hold, or a part of it, or cancel its checkout',
    description:
      'A placed hold is released at the processor; one whose customer has not entered a card loses its checkout. ' +
      'Refused as CAPTURE_IN_FLIGHT while a capture or release of it has no result, and as HOLD_FROZEN while it is ' +
      'frozen.',
    body: z.strictObject({ amountToRelease, currency: currencyOfHold, ...words }).meta({
      id: 'ReleaseHold',
      description: 'Gives back what remains of a hold, or a part of it, or cancels its checkout',
    }),
    answers: { 200: { description: 'Released', schema: OperatorReleasedHold } },
    codes: RELEASE_OF_PART,
    handler: async ({ ctx, core, asOperator, params, body, name }) => {
      const released = await release(core, { ...params, ...body, ...name }, asOperator);
      return answerChange(ctx, released, (hold, releaseRequestId) => ({
        ...OperatorHold.json(hold),
        releaseRequestId,
        ...releaseIn(released),
      }));
    },
  }),
  refundCapture: operatorWrite('holds', 'POST /operator/captures/{requestId}/refund', {
    summary: 'Give a capture, or a part of it, back to the card',
    description:
      "For a merchant, by the capture's `requestId`. A capture can be refunded several times, until nothing of it is " +
      'left, also when its hold is closed.',
    body: z
      .strictObject({
        amount: amount.optional().describe('In minor units; without it, all that is left of the capture'),
        currency: currencyOfHold,
        ...words,
      })
      .meta({ id: 'RefundCapture', description: 'Gives a capture, or a part of it, back to the card' }),
    answers: { 201: { description: 'Refunded', schema: Refund.schema } },
    codes: REFUND,
    handler: async ({ ctx, core, asOperator, params: { requestId: captureRequestId }, body, name }) => {
      const { refund, replayed } = await core.refunds.createRefund({ ...body, captureRequestId, ...name }, asOperator);
      return answerOperation(ctx, answered(refund), replayed, Refund.json);
    },
  }),
} as const;
