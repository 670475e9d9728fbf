import { z } from 'zod';
import { KEYED_WRITE, PROCESSOR, READ_ONE } from '../../http/problem-codes.ts';
import { answered } from '../../resource/core-messages.ts';
import { Oct } from '../../resource/oct.ts';
import * as fields from '../../resource/request-fields.ts';
import { requestId } from '../../resource/request-fields.ts';
import { createsOperation, outcomeOf, writeOperation } from '../../resource/write-operation.ts';
import { restRoute } from '../route.ts';

export const createOct = restRoute({
  ...createsOperation(201, 'Paid', Oct.schema, '/operations/{requestId}'),
  path: '/oct',
  tag: 'OCT',
  summary: 'Pay an amount to a card',
  description:
    '201 once the processor has paid. Refusals of the processor (CARD_DECLINED, TOKEN_INVALID, PROCESSOR_ERROR) are ' +
    'recorded and carry their `requestId`.',
  body: z
    .strictObject({
      merchantId: fields.ownMerchantId,
      tokenId: fields.tokenId,
      amount: fields.amount,
      currency: fields.currency,
      terminalId: fields.terminalId,
      userId: fields.userId,
      merchantReference: fields.merchantReference.optional(),
    })
    .meta({ id: 'CreateOct', description: 'Pays an amount to a card (original credit transaction)' }),
  codes: [...KEYED_WRITE, 'TOKEN_INVALID', ...PROCESSOR],
  handler: ({ ctx, core, merchantId, body }) =>
    writeOperation(ctx, async (name) => {
      const { oct, replayed } = await core.octs.createOct({ ...body, ...name, merchantId });
      return outcomeOf(answered(oct), replayed, Oct.json);
    }),
});

export const getOct = restRoute({
  path: '/oct/{requestId}',
  tag: 'OCT',
  summary: 'Look up an OCT, final or not',
  description: 'By its `requestId`. OPERATION_NOT_FOUND also for one of another merchant.',
  parameters: { requestId },
  answers: { 200: { description: 'The OCT', schema: Oct.schema } },
  codes: READ_ONE,
  handler: async ({ core, merchantId, params }) => Oct.json((await core.octs.getOct({ ...params, merchantId })).oct),
});
