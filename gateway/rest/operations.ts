import { z } from 'zod';
import { eventStream, LAST_EVENT_ID, OPERATIONS, streamEvents } from '../event-stream/event-stream.ts';
import { Problem } from '../http/problem.ts';
import { OCT, READ, REFUND } from '../http/problem-codes.ts';
import { answered } from '../resource/answer-fields.ts';
import { answerPageOrCsv, CSV } from '../resource/csv.ts';
import { isRequestId, notRequestId } from '../resource/identifiers.ts';
import { Contract, contractJson } from '../resource/merchant.ts';
import { Operation, OperationFilters, OperationPage, operationPage } from '../resource/operation.ts';
import { Oct, Refund } from '../resource/payments.ts';
import * as fields from '../resource/request-fields.ts';
import { answerOperation } from '../resource/write-operation.ts';
import { identityOf } from './authenticate.ts';
import { restRoute, restWrite } from './route.ts';
import { demandSignature, SIGNATURE_HEADERS } from './signed-operations/demand-signature.ts';

/** Addresses, and the account at the processor, are shown to operators and to keys that manage the webhook. */
const OwnContract = Contract.omit({ webhookUrl: true, internalUrl: true, processorAccount: true }).meta({
  id: 'OwnContract',
  description: 'What the merchant may do',
});

export const OPERATION_ROUTES = {
  listOperations: restRoute('Operations', 'GET /operations', {
    scope: 'read',
    summary: 'List final results, newest first',
    description: 'Filters are joined by AND.',
    query: OperationFilters,
    answers: { 200: { description: 'A page', schema: OperationPage.schema, orText: CSV } },
    handler: ({ query, ...call }) =>
      answerPageOrCsv(call, Operation.schema, (page) =>
        operationPage(call.core, { ...query, ...page, merchantId: call.merchantId }),
      ),
  }),
  watchOperations: restRoute('Operations', 'GET /operations/stream', {
    scope: 'read',
    summary: 'Follow results as they are committed',
    description:
      'Server-Sent Events: `event: operation`, `data:` an Operation in JSON, `id:` the token to resume from. In ' +
      'commit order, and none is ever skipped. A token that is too old, or whose result a restored database does not ' +
      'have, is refused as STREAM_TOKEN_TOO_OLD: list the operations instead. A comment every 15 seconds or oftener ' +
      'shows that the stream lives. An API key may have 100 streams open, unless the gateway is set otherwise, and ' +
      'open 100 in 10 seconds; one more is refused as RATE_LIMITED.',
    headers: LAST_EVENT_ID,
    answers: { 200: eventStream(Operation.schema) },
    codes: [...READ, 'STREAM_TOKEN_TOO_OLD'],
    handler: async ({ ctx, ...call }) => {
      const { apiKeyHash: credential, ...identity } = identityOf(ctx);
      await streamEvents(ctx, call, { ...identity, credential }, OPERATIONS);
    },
  }),
  getOperation: restRoute('Operations', 'GET /operations/{requestId}', {
    scope: 'read',
    summary: 'Look up an operation, final or not',
    description:
      'Answers what became of any `requestId`, also of one that was answered 202: there a 404 is final after 30 ' +
      'seconds. OPERATION_NOT_FOUND also for one of another merchant.',
    answers: { 200: { description: 'The operation', schema: Operation.schema } },
    handler: async ({ core, merchantId, params }) =>
      Operation.json((await core.operations.getOperation({ ...params, merchantId })).operation),
  }),
  createRefund: restWrite('Refunds', 'POST /refund', {
    scope: 'refund',
    summary: 'Give a capture, or a part of it, back to the card',
    description:
      '201 once the processor has done it. A capture can be refunded several times, until nothing of it is left, ' +
      'also when its hold is closed. Refusals of the processor (CARD_DECLINED, PROCESSOR_ERROR) are recorded and ' +
      'carry their `requestId`. Merchants whose contract says so sign this request (RFC 9421).',
    headers: SIGNATURE_HEADERS,
    body: z
      .strictObject({
        merchantId: fields.ownMerchantId,
        captureRequestId: fields.requestId.describe('The capture'),
        amount: fields.amount.optional().describe('Amount in minor units; without it, all that is left of the capture'),
        currency: fields.currencyOfHold,
        ...fields.words,
      })
      .meta({ id: 'CreateRefund', description: 'Gives a capture, or a part of it, back to the card' }),
    answers: { 201: { description: 'Refunded', schema: Refund.schema } },
    codes: [...REFUND, 'SIGNATURE_REQUIRED'],
    checkBytes: demandSignature('REFUND'),
    handler: async ({ ctx, core, inFlight, merchantId, body, name }) => {
      using _place = inFlight.enterHold(merchantId, body.captureRequestId);
      const { captureRequestId } = body;
      // Answered like an unknown one, without a call to core.
      if (!isRequestId(captureRequestId)) {
        throw new Problem('CAPTURE_NOT_FOUND', { detail: notRequestId(captureRequestId) });
      }
      const { refund, replayed } = await core.refunds.createRefund({ ...body, merchantId, ...name });
      return answerOperation(ctx, answered(refund), replayed, Refund.json);
    },
  }),
  getRefund: restRoute('Refunds', 'GET /refund/{requestId}', {
    scope: 'read',
    summary: 'Look up a refund, final or not',
    description: 'By its `requestId`. OPERATION_NOT_FOUND also for one of another merchant.',
    answers: { 200: { description: 'The refund', schema: Refund.schema } },
    handler: async ({ core, merchantId, params }) =>
      Refund.json((await core.refunds.getRefund({ ...params, merchantId })).refund),
  }),
  createOct: restWrite('OCT', 'POST /oct', {
    scope: 'oct',
    summary: 'Pay an amount to a card',
    description:
      '201 once the processor has paid. Refusals of the processor (CARD_DECLINED, TOKEN_INVALID, PROCESSOR_ERROR) ' +
      'are recorded and carry their `requestId`. The contract must allow payouts (`allowOct`). Merchants whose contract ' +
      'says so sign this request (RFC 9421).',
    headers: SIGNATURE_HEADERS,
    body: z
      .strictObject({
        merchantId: fields.ownMerchantId,
        tokenId: fields.tokenId,
        amount: fields.amount,
        currency: fields.currency,
        terminalId: fields.terminalId,
        userId: fields.userId,
        merchantReference: fields.merchantReference.optional(),
        metadata: fields.words.metadata,
        reason: fields.words.reason,
      })
      .meta({ id: 'CreateOct', description: 'Pays an amount to a card (original credit transaction)' }),
    answers: { 201: { description: 'Paid', schema: Oct.schema } },
    codes: [...OCT, 'SIGNATURE_REQUIRED'],
    checkBytes: demandSignature('OCT'),
    handler: async ({ ctx, core, merchantId, body, name }) => {
      const { oct, replayed } = await core.octs.createOct({ ...body, merchantId, ...name });
      return answerOperation(ctx, answered(oct), replayed, Oct.json);
    },
  }),
  getOct: restRoute('OCT', 'GET /oct/{requestId}', {
    scope: 'read',
    summary: 'Look up an OCT, final or not',
    description: 'By its `requestId`. OPERATION_NOT_FOUND also for one of another merchant.',
    answers: { 200: { description: 'The OCT', schema: Oct.schema } },
    handler: async ({ core, merchantId, params }) => Oct.json((await core.octs.getOct({ ...params, merchantId })).oct),
  }),
  getContract: restRoute('Contract', 'GET /contract', {
    scope: 'read',
    summary: 'Look up what the contract allows',
    description:
      'Currencies, terminals, the period of holds and how often a hold may be captured, as operators have set them. ' +
      'Refusals of a `currency` or a `terminalId`, and MULTIPLE_CAPTURES_NOT_ALLOWED, OCT_NOT_ALLOWED, LIMIT_EXCEEDED ' +
      'and SIGNATURE_REQUIRED, follow from it.',
    answers: { 200: { description: 'The contract', schema: OwnContract } },
    handler: async ({ core, merchantId }) => {
      const { contract } = await core.merchants.getContract({ merchantId });
      const { webhookUrl: _, internalUrl: __, processorAccount: ___, ...own } = contractJson(contract);
      return own;
    },
  }),
} as const;
