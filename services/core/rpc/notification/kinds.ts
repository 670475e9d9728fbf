/** The kinds of endpoints and of notifications: as the contract says them, and as the tables keep them. */
import { EndpointKind, NotificationKind } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { EndpointKind as KeptEndpointKind, NotificationKind as KeptKind } from '../../storage/delivery.ts';

export function endpointKindOf(kept: KeptEndpointKind): EndpointKind {
  return kept === 'internal' ? EndpointKind.INTERNAL : EndpointKind.WEBHOOK;
}

/** Of a kind that is specified. */
export function keptEndpointKind(kind: EndpointKind): KeptEndpointKind {
  return kind === EndpointKind.INTERNAL ? 'internal' : 'webhook';
}

export function notificationKindOf(kept: KeptKind): NotificationKind {
  return kept === 'oct' ? NotificationKind.OCT : NotificationKind.PAYMENT;
}

/** Of a kind that is specified. */
export function keptNotificationKind(kind: NotificationKind): KeptKind {
  return kind === NotificationKind.OCT ? 'oct' : 'payment';
}
