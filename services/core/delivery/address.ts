import type { NotificationKind } from '../storage/delivery.ts';
import { DestinationRefused } from './destination.ts';

/** What a notification's address is made of, besides the endpoint's own. */
export interface NotificationPath {
  readonly kind: NotificationKind;
  readonly statusInfo: string;
}

/**
 * The address of a notification: the endpoint's, then `/webhook/processor/{payment|oct}/{statusInfo}`, always made anew from parts
 * that are checked here. Errors: DestinationRefused when the endpoint's address is not one.
 */
export function notificationUrl(endpointUrl: string, path: NotificationPath): URL {
  const endpoint = parseEndpointUrl(endpointUrl);
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(path.statusInfo)) throw new DestinationRefused('statusInfo is malformed');
  const kind = path.kind === 'oct' ? 'oct' : 'payment';
  return new URL(
    `${endpoint.pathname.replace(/\/+$/, '')}/webhook/processor/${kind}/${path.statusInfo}`,
    endpoint.origin,
  );
}

/** Reads an endpoint's address: http or https, with a host, maybe a path, and nothing else. Errors: DestinationRefused. */
export function parseEndpointUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new DestinationRefused('the address is not an http or https URL');
  }
  if (url.username !== '' || url.password !== '') throw new DestinationRefused('the address carries a user name');
  if (url.search !== '' || url.hash !== '') throw new DestinationRefused('the address carries a query or fragment');
  return url;
}
