import { z } from 'zod';
import * as contract from '../../proto/gen/holdfast/v1/operator_pb.js';
import { eventStream, type Feed, LAST_EVENT_ID, streamEvents } from '../event-stream/event-stream.ts';
import { READ } from '../http/problem-codes.ts';
import { answer, pageOf } from '../resource/answer.ts';
import { TIME } from '../resource/answer-fields.ts';
import { answerPageOrCsv, CSV, CSV_QUERY } from '../resource/csv.ts';
import {
  identifierOf,
  merchantId,
  page,
  queryInteger,
  textOf,
  timeBefore,
  timeFrom,
} from '../resource/request-fields.ts';
import { operatorRoute } from './route.ts';

const AUDIT = contract.ListAuditEntriesRequestSchema.field;

const Overview = answer('Overview', contract.GetOverviewResponseSchema, {
  parts: { processors: answer('ProcessorOverview', contract.ProcessorOverviewSchema) },
});

const Minute = answer('Minute', contract.MinuteSchema);
const Minutes = z.object({ items: z.array(Minute.schema) }).meta({ id: 'Minutes', description: 'Oldest first' });

const Match = answer('Match', contract.MatchSchema);
const Matches = pageOf(undefined, '', Match, 'matches');

const MatchPage = Matches.schema
  .extend({
    searchedFrom: TIME.schema
      .describe('Everything asked for since then was searched; absent = there is nothing more to search')
      .optional(),
  })
  .meta({ id: 'MatchPage', description: 'Newest first; nextPageToken goes on searching further back' });

const AuditEntry = answer('AuditEntry', contract.AuditEntrySchema, {
  own: {
    detail: {
      schema: z.record(z.string(), z.unknown()).describe('More about it; never a secret').optional(),
      read: ({ detail }) => (detail === '' ? undefined : JSON.parse(detail)),
    },
  },
});

const AuditPage = pageOf('AuditPage', 'Newest first', AuditEntry, 'entries');

/** Entries of the audit log as they are written: an event for each. */
const AUDITS: Feed<contract.WatchAuditEntriesResponse> = {
  event: 'audit',
  watch: (core, { resumeToken }, call) => core.operators.watchAuditEntries({ resumeToken }, call),
  dataOf: ({ entry }) => entry && AuditEntry.json(entry),
};

export const OVERVIEW_ROUTES = {
  getOverview: operatorRoute('overview', 'GET /operator/overview', {
    summary: 'Count what may need attention',
    description:
      'Each count stops at 10 000. Of every card processor it says whether it answers and what is open there.',
    answers: { 200: { description: 'The counts', schema: Overview.schema } },
    handler: async ({ core, asOperator }) => Overview.json(await core.operators.getOverview({}, asOperator)),
  }),
  listMinutes: operatorRoute('overview', 'GET /operator/overview/series', {
    summary: 'Count by minute: operations OK and KO, deliveries, notifications verified and refused',
    description:
      'One item for each minute, the present one last. What was before the newest 200 000 results and deliveries is ' +
      'not counted.',
    query: z.strictObject({
      minutes: queryInteger(1, 180)
        .meta({ description: 'Minutes, the present one included; default 60', examples: [60] })
        .optional(),
      merchantId: merchantId.optional(),
    }),
    answers: { 200: { description: 'The minutes', schema: Minutes } },
    handler: async ({ core, asOperator, query: { minutes = 60, merchantId = '' } }) => {
      const answer = await core.operators.listMinutes({ minuteCount: minutes, merchantId }, asOperator);
      return { items: answer.minutes.map(Minute.json) };
    },
  }),
  search: operatorRoute('overview', 'POST /operator/search', {
    effect: 'READ',
    summary: 'Find operations and deliveries by what somebody has in front of them',
    description:
      'Whole identifiers are looked up; anything else is searched for in the newest 50 000 rows of each table within ' +
      'the dates. `searchedFrom` says how far back that was, and `nextPageToken` goes on from there.',
    body: z
      .strictObject({
        text: identifierOf(contract.ListMatchesRequestSchema.field.text).meta({
          description:
            "A requestId or its end, a whole deliveryId, a part of the merchant's reference, a preauthorizationId, a " +
            'reference of the processor or the bank, or the last four digits of a card',
          examples: ['order-1001'],
        }),
        merchantId: merchantId.optional(),
        createdFrom: timeFrom.optional(),
        createdTo: timeBefore.optional(),
        pageToken: page.pageToken,
      })
      .meta({
        id: 'Search',
        description: 'What somebody has in front of them. In a body, because it may be sensitive',
      }),
    answers: { 200: { description: 'What was found', schema: MatchPage } },
    handler: async ({ core, asOperator, body }) => {
      const found = await core.operators.listMatches(body, asOperator);
      return { ...Matches.json(found), searchedFrom: found.searchedFrom && TIME.json(found.searchedFrom) };
    },
  }),
  listAudit: operatorRoute('overview', 'GET /operator/audit', {
    summary: 'List what operators did, and merchants with their webhooks',
    description:
      'Newest first; filters are joined by AND. A change of a contract has its old and its new values, a key or ' +
      'secret only its id.',
    query: z.strictObject({
      target: textOf(AUDIT.target).optional(),
      action: textOf(AUDIT.action).optional(),
      actor: textOf(AUDIT.actor)
        .meta({ description: 'Whole, as the answer has it', examples: ['operator/alice'] })
        .optional(),
      atFrom: timeFrom.optional(),
      atTo: timeBefore.optional(),
      ...page,
      ...CSV_QUERY,
    }),
    answers: { 200: { description: 'A page', schema: AuditPage.schema, orText: CSV } },
    handler: ({ query, ...call }) =>
      answerPageOrCsv(call, AuditEntry.schema, async (page) =>
        AuditPage.json(await call.core.operators.listAuditEntries({ ...query, ...page }, call.asOperator)),
      ),
  }),
  watchAudit: operatorRoute('overview', 'GET /operator/audit/stream', {
    summary: 'Follow the audit log',
    description:
      'Server-Sent Events, `event: audit`: an entry as it is written, and again when its result is added. `id:` is its ' +
      'place in the chain of hashes, which `npm run audit -- --head` compares: a reader that keeps the ids can prove ' +
      'what the log had. `0:` and 32 zeros begin with the first entry.',
    headers: LAST_EVENT_ID,
    answers: { 200: eventStream(AuditEntry.schema) },
    codes: [...READ, 'STREAM_TOKEN_TOO_OLD'],
    handler: async ({ ctx, operator, asOperator, ...call }) => {
      const reader = { merchantId: '', credential: 'operator', isLive: operator.isLive, ...asOperator };
      await streamEvents(ctx, call, reader, AUDITS);
    },
  }),
} as const;
