/** Kinds of endpoints and notifications, between the contract and the tables. */
import { EndpointKind, NotificationKind } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import type { EndpointKind as KeptEndpointKind, NotificationKind as KeptKind } from '../storage/delivery/delivery.ts';

export function endpointKindOf(kept: KeptEndpointKind): EndpointKind {
  return kept === 'internal' ? EndpointKind.INTERNAL : EndpointKind.WEBHOOK;
}

/** The kind must be specified. */
export function keptEndpointKind(kind: EndpointKind): KeptEndpointKind {
  return kind === EndpointKind.INTERNAL ? 'internal' : 'webhook';
}

export function notificationKindOf(kept: KeptKind): NotificationKind {
  return kept === 'oct' ? NotificationKind.OCT : NotificationKind.PAYMENT;
}

/** The kind must be specified. */
export function keptNotificationKind(kind: NotificationKind): KeptKind {
  return kind === NotificationKind.OCT ? 'oct' : 'payment';
}
