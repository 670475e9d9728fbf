import { z } from 'zod';
import { MatchSchema } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { WRITE } from '../../http/problem-codes.ts';
import * as fields from '../../resource/answer-fields.ts';
import { messageJson, pageJson, time } from '../../resource/core-messages.ts';
import { Operation } from '../../resource/operation.ts';
import { page, text, time as timeField, uuid } from '../../resource/request-fields.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

const Search = z
  .strictObject({
    text: text(128, 4).meta({
      description:
        "A requestId or deliveryId or its end, a part of the merchant's reference, a preauthorizationId, a reference of the " +
        'processor or the bank, or the last four digits of a card',
      examples: ['order-1001'],
    }),
    merchantId: merchantId.optional(),
    createdFrom: timeField.optional(),
    createdTo: timeField.optional(),
    pageToken: page.pageToken,
  })
  .meta({ id: 'Search', description: 'What somebody has in front of them. In a body, because it may be sensitive' });

const Match = z
  .object({
    requestId: z.string().meta({ description: 'The operation; of a delivery, what it is about' }),
    deliveryId: uuid('delivery').optional(),
    operation: Operation.shape.operation.optional(),
    status: Operation.shape.status.optional(),
    merchantId,
    amount: fields.money("The operation's").optional(),
    currency: fields.currency.optional(),
    holdRequestId: fields.requestId.meta({ description: 'The hold that it belongs to' }).optional(),
    merchantReference: z.string().optional(),
    createdAt: fields.time('When it was asked for'),
    matchedBy: z.enum(['ID', 'MERCHANT_REFERENCE', 'PREAUTHORIZATION_ID', 'PROCESSOR_REFERENCE', 'LAST4']),
  })
  .meta({ id: 'Match', description: 'An operation, with or without a result, or a delivery' });

const matchJson = messageJson(Match, MatchSchema);

const MatchPage = fields
  .pageOf(Match)
  .extend({
    searchedFrom: fields
      .time('Everything asked for since then was searched; absent = there is nothing more to search')
      .optional(),
  })
  .meta({ id: 'MatchPage', description: 'Newest first; nextPageToken goes on searching further back' });

export const search = operatorRoute({
  method: 'post',
  path: '/operator/search',
  tag: 'Operators: overview',
  summary: 'Find operations and deliveries by what somebody has in front of them',
  description:
    'Whole identifiers are looked up; anything else is searched for in the newest 50 000 rows of each table within ' +
    'the dates. `searchedFrom` says how far back that was, and `nextPageToken` goes on from there.',
  body: Search,
  answers: { 200: { description: 'What was found', schema: MatchPage } },
  codes: WRITE,
  handler: async ({ ctx, core, asOperator, body }) => {
    const { matches, searchedFrom, nextPageToken } = await core.operators.listMatches(body, asOperator);
    ctx.body = { ...pageJson(matches.map(matchJson), nextPageToken), searchedFrom: time(searchedFrom) };
  },
});
