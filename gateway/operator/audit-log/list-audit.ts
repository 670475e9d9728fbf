import { z } from 'zod';
import { AuditEntrySchema } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { READ } from '../../http/problem-codes.ts';
import * as fields from '../../resource/answer-fields.ts';
import { messageJson, pageJson } from '../../resource/core-messages.ts';
import { page, text, time, uuid } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

const AuditEntry = z
  .object({
    auditEntryId: uuid('entry'),
    at: fields.time('When'),
    actor: z.string().meta({
      description: '"operator", or "operator/" and the name given; "api-key/" and the id of a merchant\'s key',
      examples: ['operator/alice'],
    }),
    action: z.string().meta({ description: 'What', examples: ['preauthorization.capture'] }),
    target: z.string().meta({ description: 'To what: a requestId, merchantId or other id' }),
    detail: z.record(z.string(), z.unknown()).meta({ description: 'More about it; never a secret' }).optional(),
  })
  .meta({ id: 'AuditEntry' });

const auditEntryJson = messageJson(AuditEntry, AuditEntrySchema, {
  detail: ({ detail }) => (detail === '' ? undefined : JSON.parse(detail)),
});

const AuditPage = fields.pageOf(AuditEntry).meta({ id: 'AuditPage', description: 'Newest first' });

export const listAudit = operatorRoute({
  method: 'get',
  path: '/operator/audit',
  tag: 'Operators: overview',
  summary: 'List what operators did, and merchants with their webhooks',
  description:
    'Newest first; filters are joined by AND. A change of a contract has its old and its new values, a key or ' +
    'secret only its id.',
  query: z.strictObject({
    target: text(128).optional(),
    action: text(64).optional(),
    actor: text(128)
      .meta({ description: 'Whole, as the answer has it', examples: ['operator/alice'] })
      .optional(),
    atFrom: time.optional(),
    atTo: time.optional(),
    ...page,
  }),
  answers: { 200: { description: 'A page', schema: AuditPage } },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    const { entries, nextPageToken } = await core.operators.listAuditEntries(query, asOperator);
    ctx.body = pageJson(entries.map(auditEntryJson), nextPageToken);
  },
});
