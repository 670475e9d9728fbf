import { z } from 'zod';
import { MANAGED_READ, WRITE, WRITE_ONE } from '../../http/problem-codes.ts';
import { defined } from '../../resource/core-messages.ts';
import {
  AttemptsPage,
  DeliveryFilters,
  DeliveryPage,
  DeliveryWithAttempts,
  deliveryPage,
  RECOVER_DESCRIPTION,
  RecoveredDeliveries,
  recoverFields,
  WholeDelivery,
} from '../../resource/delivery.ts';
import { ownMerchantId, uuid } from '../../resource/request-fields.ts';
import { NoFields, restRoute } from '../route.ts';

export const listOwnDeliveries = restRoute({
  path: '/deliveries',
  tag: 'Webhook',
  summary: 'List deliveries of notifications, newest first',
  description: 'Filters are joined by AND.',
  query: DeliveryFilters,
  answers: { 200: { description: 'A page', schema: DeliveryPage.schema } },
  codes: MANAGED_READ,
  handler: ({ core, merchantId, asKey, query }) => deliveryPage(core, { ...query, merchantId }, asKey),
});

export const getOwnDelivery = restRoute({
  path: '/deliveries/{deliveryId}',
  tag: 'Webhook',
  summary: 'Look up a delivery with its attempts, what it sends and where, and what it is about',
  description:
    'The newest attempts first by page, the oldest first in a page. `content` is byte for byte what an attempt would ' +
    'send now, tokens included.',
  parameters: { deliveryId: uuid('delivery') },
  query: AttemptsPage,
  answers: { 200: { description: 'The delivery', schema: WholeDelivery.schema } },
  codes: [...MANAGED_READ, 'OPERATION_NOT_FOUND', 'RECONCILING'],
  handler: async ({ core, merchantId, asKey, params, query }) =>
    WholeDelivery.json(await core.notifications.getDelivery({ ...params, ...query, merchantId }, asKey)),
});

export const replayOwnDelivery = restRoute({
  method: 'post',
  path: '/deliveries/{deliveryId}/replay',
  tag: 'Webhook',
  summary: 'Send a delivery again',
  description:
    'With the `webhook-id` that it had and a new schedule of attempts, to the address that the webhook has now. One ' +
    'that waits for its next attempt gets it at once. Refused as INVALID_REQUEST when its body was purged or it had ' +
    '200 attempts, and as RATE_LIMITED above 60 replays a minute.',
  parameters: { deliveryId: uuid('delivery') },
  body: NoFields,
  answers: { 200: { description: 'The delivery as it is now', schema: DeliveryWithAttempts.schema } },
  codes: WRITE_ONE,
  handler: async ({ core, merchantId, asKey, params }) =>
    DeliveryWithAttempts.json((await core.notifications.replayDelivery({ ...params, merchantId }, asKey)).delivery),
});

const RecoverDeliveries = z
  .strictObject({ merchantId: ownMerchantId, ...recoverFields })
  .meta({ id: 'RecoverDeliveries', description: 'Makes due now what was not delivered' });

export const recoverOwnDeliveries = restRoute({
  method: 'post',
  path: '/deliveries/recover',
  tag: 'Webhook',
  summary: 'Send what was not delivered in a time now',
  description: `${RECOVER_DESCRIPTION} Refused as RATE_LIMITED above 6 times a minute.`,
  body: RecoverDeliveries,
  answers: { 202: { description: 'They wait for their attempts', schema: RecoveredDeliveries } },
  codes: WRITE,
  handler: async ({ core, merchantId, asKey, body }) => {
    const { count } = await core.notifications.recoverDeliveries(defined({ ...body, merchantId }), asKey);
    return { count };
  },
});
