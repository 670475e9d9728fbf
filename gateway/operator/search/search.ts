import { z } from 'zod';
import { MatchSchema } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { WRITE } from '../../http/problem-codes.ts';
import { answer, pageOf } from '../../resource/answer.ts';
import { time as timeField } from '../../resource/answer-fields.ts';
import { time } from '../../resource/core-messages.ts';
import { merchantId, page as pageFields, time as requestedTime, text } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

const Search = z
  .strictObject({
    text: text(128, 4).meta({
      description:
        "A requestId or deliveryId or its end, a part of the merchant's reference, a preauthorizationId, a reference " +
        'of the processor or the bank, or the last four digits of a card',
      examples: ['order-1001'],
    }),
    merchantId: merchantId.optional(),
    createdFrom: requestedTime.optional(),
    createdTo: requestedTime.optional(),
    pageToken: pageFields.pageToken,
  })
  .meta({ id: 'Search', description: 'What somebody has in front of them. In a body, because it may be sensitive' });

const Match = answer('Match', MatchSchema);

const Matches = pageOf(undefined, '', Match, 'matches');

const MatchPage = Matches.schema
  .extend({
    searchedFrom: timeField(
      'Everything asked for since then was searched; absent = there is nothing more to search',
    ).optional(),
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
  handler: async ({ core, asOperator, body }) => {
    const page = await core.operators.listMatches(body, asOperator);
    return { ...Matches.json(page), searchedFrom: time(page.searchedFrom) };
  },
});
