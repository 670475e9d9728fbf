import { z } from 'zod';
import { MANAGED_READ, WRITE_ONE } from '../http/problem-codes.ts';
import {
  changedSender,
  inSenderWords,
  newSender,
  RelaySender,
  RelaySenders,
  senderRequest,
} from '../resource/relay-sender.ts';
import { ownMerchantId } from '../resource/request-fields.ts';
import { restRoute } from './route.ts';

export const RELAY_SENDER_ROUTES = {
  listRelaySenders: restRoute('Relay', 'GET /relay-senders', {
    scope: 'webhook',
    summary: 'List the senders whose notifications the relay takes for the merchant',
    description:
      "At most 10, oldest first; the merchant's own sender, of `POST /webhook/processor/…`, is not among them.",
    answers: { 200: { description: 'All of them', schema: RelaySenders.schema } },
    codes: MANAGED_READ,
    handler: async ({ core, merchantId, asKey }) =>
      RelaySenders.json(await core.relay.listRelaySenders({ merchantId }, asKey)),
  }),
  createRelaySender: restRoute('Relay', 'POST /relay-senders', {
    scope: 'webhook',
    again: 'adds another one',
    summary: 'Add a sender',
    description:
      'What it sends to `POST /webhook/relay/{senderId}` is verified by its scheme and forwarded to the internal URL of ' +
      'the merchant. Refused as INVALID_REQUEST with 10 senders, and as RATE_LIMITED after 30 changes of the webhook, ' +
      'its secrets or its senders in a minute.',
    body: z.strictObject({ ...newSender, merchantId: ownMerchantId }).meta({ id: 'CreateRelaySender' }),
    answers: { 201: { description: 'Added', schema: RelaySender.schema } },
    handler: async ({ core, merchantId, asKey, body }) => {
      const { scheme } = body;
      const request = { merchantId, scheme, ...senderRequest(body, true) };
      const call = core.relay.createRelaySender(request, asKey);
      return RelaySender.json((await inSenderWords(call, scheme === 'ed25519-body')).sender);
    },
  }),
  getRelaySender: restRoute('Relay', 'GET /relay-senders/{senderId}', {
    scope: 'webhook',
    summary: 'Look up a sender',
    description: 'Its settings, and its keys by their ids; never a secret.',
    answers: { 200: { description: 'The sender', schema: RelaySender.schema } },
    codes: [...MANAGED_READ, 'OPERATION_NOT_FOUND', 'RECONCILING'],
    handler: async ({ core, merchantId, asKey, params }) =>
      RelaySender.json((await core.relay.getRelaySender({ ...params, merchantId }, asKey)).sender),
  }),
  updateRelaySender: restRoute('Relay', 'PUT /relay-senders/{senderId}', {
    scope: 'webhook',
    summary: "Replace a sender's settings, and its keys when some are given",
    description:
      'A setting that is left out gets its default, not its old value. Without keys those that it has stay; a key that ' +
      'is given again keeps its id. To change a secret: send the old one and the new one, then the new one alone. ' +
      'Refused as INVALID_REQUEST and RATE_LIMITED as when a sender is added.',
    body: z.strictObject({ ...changedSender, merchantId: ownMerchantId }).meta({ id: 'UpdateRelaySender' }),
    answers: { 200: { description: 'The sender as it is now', schema: RelaySender.schema } },
    codes: WRITE_ONE,
    handler: async ({ core, merchantId, asKey, params, body }) => {
      const request = { ...params, merchantId, ...senderRequest(body, false) };
      const call = core.relay.updateRelaySender(request, asKey);
      return RelaySender.json((await inSenderWords(call, body.publicKeys !== undefined)).sender);
    },
  }),
  deleteRelaySender: restRoute('Relay', 'DELETE /relay-senders/{senderId}', {
    scope: 'webhook',
    summary: 'Remove a sender',
    description:
      'Gateways refuse its notifications within seconds; what it has sent stays. Once more is OPERATION_NOT_FOUND.',
    answers: { 204: { description: 'Removed' } },
    handler: async ({ core, merchantId, asKey, params }) => {
      await core.relay.deleteRelaySender({ ...params, merchantId }, asKey);
    },
  }),
} as const;
