import { z } from 'zod';
import { AuditEntrySchema } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { answer, pageOf } from '../../resource/answer.ts';
import { page, text, time } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

const AuditEntry = answer('AuditEntry', AuditEntrySchema, {
  own: {
    detail: {
      schema: z.record(z.string(), z.unknown()).describe('More about it; never a secret').optional(),
      read: ({ detail }) => (detail === '' ? undefined : JSON.parse(detail)),
    },
  },
});

const AuditPage = pageOf('AuditPage', 'Newest first', AuditEntry, 'entries');

export const listAudit = operatorRoute({
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
  answers: { 200: { description: 'A page', schema: AuditPage.schema } },
  handler: async ({ core, asOperator, query }) =>
    AuditPage.json(await core.operators.listAuditEntries(query, asOperator)),
});
