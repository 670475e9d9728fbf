import { z } from 'zod';
import { WRITE_ONE } from '../http/problem-codes.ts';
import {
  changedSender,
  inSenderWords,
  newSender,
  RelaySender,
  RelaySenders,
  senderRequest,
} from '../resource/relay-sender.ts';
import { operatorRoute } from './route.ts';

export const RELAY_SENDER_ROUTES = {
  listSendersOf: operatorRoute('relay', 'GET /operator/merchants/{merchantId}/relay-senders', {
    summary: "List a merchant's senders of the relay",
    description: 'At most 10, oldest first.',
    answers: { 200: { description: 'All of them', schema: RelaySenders.schema } },
    handler: async ({ core, asOperator, params }) =>
      RelaySenders.json(await core.relay.listRelaySenders(params, asOperator)),
  }),
  createSenderOf: operatorRoute('relay', 'POST /operator/merchants/{merchantId}/relay-senders', {
    again: 'adds another one',
    summary: 'Add a sender',
    description: 'As `POST /relay-senders` does for the merchant itself. Refused as INVALID_REQUEST with 10 senders.',
    body: z.strictObject(newSender).meta({ id: 'CreateSenderOf' }),
    answers: { 201: { description: 'Added', schema: RelaySender.schema } },
    codes: WRITE_ONE,
    handler: async ({ core, asOperator, params, body }) => {
      const request = { ...params, scheme: body.scheme, ...senderRequest(body, true) };
      const call = core.relay.createRelaySender(request, asOperator);
      return RelaySender.json((await inSenderWords(call, body.scheme === 'ed25519-body')).sender);
    },
  }),
  updateSenderOf: operatorRoute('relay', 'PUT /operator/merchants/{merchantId}/relay-senders/{senderId}', {
    summary: "Replace a sender's settings, and its keys when some are given",
    description: 'As `PUT /relay-senders/{senderId}` does for the merchant itself.',
    body: z.strictObject(changedSender).meta({ id: 'UpdateSenderOf' }),
    answers: { 200: { description: 'The sender as it is now', schema: RelaySender.schema } },
    codes: WRITE_ONE,
    handler: async ({ core, asOperator, params, body }) => {
      const call = core.relay.updateRelaySender({ ...params, ...senderRequest(body, false) }, asOperator);
      return RelaySender.json((await inSenderWords(call, body.publicKeys !== undefined)).sender);
    },
  }),
  deleteSenderOf: operatorRoute('relay', 'DELETE /operator/merchants/{merchantId}/relay-senders/{senderId}', {
    summary: 'Remove a sender',
    description: 'Gateways refuse its notifications within seconds; what it has sent stays.',
    answers: { 204: { description: 'Removed' } },
    handler: async ({ core, asOperator, params }) => {
      await core.relay.deleteRelaySender(params, asOperator);
    },
  }),
} as const;
