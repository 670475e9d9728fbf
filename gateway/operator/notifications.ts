import assert from 'node:assert/strict';
import type { Context, Middleware } from 'koa';
import {
  DeliveryState,
  EndpointKind,
  QuarantineState,
  StoredNotificationState,
  VerificationFailureReason,
} from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { Core } from '../core.ts';
import { some } from '../rest/answer/words.ts';
import { defined } from '../rest/defined.ts';
import { readQuery } from '../rest/read-query.ts';
import { isRequestId } from '../rest/read-request-id.ts';
import { NoQuery } from '../rest/schema/fields.ts';
import { timestampOf } from '../rest/timestamp.ts';
import {
  deliveryJson,
  deliveryWithAttemptsJson,
  endpointJson,
  failureJson,
  quarantinedJson,
  storedJson,
} from './answer/notification.ts';
import { callOf } from './authenticate.ts';
import { readFields, readName } from './read-fields.ts';
import type { NOTIFICATION_ROUTES } from './routes/notification.ts';
import { ListDeliveriesQuery, ReplayDeliveriesBody } from './schema/delivery.ts';
import { MerchantQuery, NoBody } from './schema/fields.ts';
import { ListFailuresQuery, ListQuarantineQuery, ListStoredQuery, ReplayStoredBody } from './schema/relay.ts';

type Names = keyof typeof NOTIFICATION_ROUTES;
type Part<Prefix extends string> = Record<Extract<Names, `${string}${Prefix}${string}`>, Middleware>;

/** Deliveries, endpoints, and what the relay refused or set aside. */
export function notificationHandlers(core: Pick<Core, 'notifications'>): Record<Names, Middleware> {
  return { ...deliveryHandlers(core), ...endpointHandlers(core), ...relayHandlers(core), ...storedHandlers(core) };
}

function deliveryHandlers({ notifications }: Pick<Core, 'notifications'>): Part<'Deliver'> {
  return {
    listDeliveries: async (ctx) => {
      const { endpointKind, state, pageSize, ...filters } = readQuery(ctx, ListDeliveriesQuery);
      if (filters.holdRequestId !== undefined && !isRequestId(filters.holdRequestId)) {
        ctx.body = { items: [] };
        return;
      }
      const request = defined({
        ...filters,
        endpointKind: endpointKind && EndpointKind[endpointKind],
        state: state && DeliveryState[state],
        pageSize: Number(pageSize ?? 0),
      });
      const { deliveries, nextPageToken } = await notifications.listDeliveries(request, callOf(ctx));
      ctx.body = { items: deliveries.map(deliveryJson), nextPageToken: some(nextPageToken) };
    },
    getDelivery: async (ctx) => {
      readQuery(ctx, NoQuery);
      const { delivery } = await notifications.getDelivery({ deliveryId: readName(ctx, 'deliveryId') }, callOf(ctx));
      ctx.body = delivery && deliveryWithAttemptsJson(delivery);
    },
    replayDelivery: async (ctx) => {
      const deliveryId = readName(ctx, 'deliveryId');
      await readFields(ctx, NoBody);
      const { delivery } = await notifications.replayDelivery({ deliveryId }, callOf(ctx));
      ctx.body = delivery && deliveryWithAttemptsJson(delivery);
    },
    replayDeliveries: async (ctx) => {
      const { endpointKind, state, createdFrom, createdTo, ...rest } = await readFields(ctx, ReplayDeliveriesBody);
      const request = defined({
        ...rest,
        endpointKind: endpointKind && EndpointKind[endpointKind],
        state: state && DeliveryState[state],
        createdFrom: timestampOf(createdFrom),
        createdTo: timestampOf(createdTo),
      });
      const { replayedCount, more } = await notifications.replayDeliveries(request, callOf(ctx));
      ctx.body = { replayedCount, more };
    },
  };
}

function endpointHandlers({ notifications }: Pick<Core, 'notifications'>): Part<'Endpoint'> {
  const named = async (ctx: Context) => {
    const endpointKind = readName(ctx, 'endpointKind') === 'internal' ? EndpointKind.INTERNAL : EndpointKind.WEBHOOK;
    const merchantId = readName(ctx, 'merchantId');
    await readFields(ctx, NoBody);
    return { merchantId, endpointKind };
  };
  return {
    listEndpoints: async (ctx) => {
      const { pageSize, ...filters } = readQuery(ctx, MerchantQuery);
      const request = defined({ ...filters, pageSize: Number(pageSize ?? 0) });
      const { endpoints, nextPageToken } = await notifications.listEndpoints(request, callOf(ctx));
      ctx.body = { items: endpoints.map(endpointJson), nextPageToken: some(nextPageToken) };
    },
    pauseEndpoint: async (ctx) => {
      const { endpoint } = await notifications.pauseEndpoint(await named(ctx), callOf(ctx));
      ctx.body = endpoint && endpointJson(endpoint);
    },
    resumeEndpoint: async (ctx) => {
      const { endpoint } = await notifications.resumeEndpoint(await named(ctx), callOf(ctx));
      ctx.body = endpoint && endpointJson(endpoint);
    },
  };
}

function relayHandlers({ notifications }: Pick<Core, 'notifications'>): Part<'Failures'> & Part<'Quarantine'> {
  const named = async (ctx: Context) => {
    const quarantineId = readName(ctx, 'quarantineId');
    await readFields(ctx, NoBody);
    return { quarantineId };
  };
  return {
    listFailures: async (ctx) => {
      const { reason, pageSize, ...filters } = readQuery(ctx, ListFailuresQuery);
      const request = {
        ...filters,
        reason: reason && VerificationFailureReason[reason],
        pageSize: Number(pageSize ?? 0),
      };
      const { failures, nextPageToken } = await notifications.listVerificationFailures(defined(request), callOf(ctx));
      ctx.body = { items: failures.map(failureJson), nextPageToken: some(nextPageToken) };
    },
    listQuarantine: async (ctx) => {
      const { state, pageSize, ...filters } = readQuery(ctx, ListQuarantineQuery);
      const request = { ...filters, state: state && QuarantineState[state], pageSize: Number(pageSize ?? 0) };
      const page = await notifications.listQuarantinedNotifications(defined(request), callOf(ctx));
      ctx.body = { items: page.notifications.map(quarantinedJson), nextPageToken: some(page.nextPageToken) };
    },
    releaseQuarantined: async (ctx) => {
      const { notification } = await notifications.releaseQuarantinedNotification(await named(ctx), callOf(ctx));
      assert(notification, 'core answers with the notification');
      ctx.body = quarantinedJson(notification);
    },
    discardQuarantined: async (ctx) => {
      const { notification } = await notifications.discardQuarantinedNotification(await named(ctx), callOf(ctx));
      assert(notification, 'core answers with the notification');
      ctx.body = quarantinedJson(notification);
    },
  };
}

function storedHandlers({ notifications }: Pick<Core, 'notifications'>): Part<'Stored'> {
  return {
    listStored: async (ctx) => {
      const { state, pageSize, ...filters } = readQuery(ctx, ListStoredQuery);
      const request = { ...filters, state: state && StoredNotificationState[state], pageSize: Number(pageSize ?? 0) };
      const page = await notifications.listStoredNotifications(defined(request), callOf(ctx));
      ctx.body = { items: page.notifications.map(storedJson), nextPageToken: some(page.nextPageToken) };
    },
    replayStored: async (ctx) => {
      const key = await readFields(ctx, ReplayStoredBody);
      const { notification } = await notifications.replayStoredNotification(key, callOf(ctx));
      assert(notification, 'core answers with the notification');
      ctx.body = storedJson(notification);
    },
  };
}
