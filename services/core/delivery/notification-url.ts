import type { NotificationKind } from '../storage/delivery/delivery.ts';
import { DestinationRefused } from './destination.ts';

/** The parts of a notification's URL besides the endpoint's URL. */
export interface NotificationPath {
  readonly kind: NotificationKind;
  readonly statusInfo: string;
}

/**
 * The URL of a notification: the endpoint's, then `/webhook/processor/{payment|oct}/{statusInfo}`. Throws DestinationRefused when a part
 * is malformed.
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

/** Parses an endpoint's URL: http or https, a host, optionally a path, nothing else. Throws DestinationRefused. */
export function parseEndpointUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new DestinationRefused('the address is not an http or https URL');
  }
  if (url.username !== '' || url.password !== '') throw new DestinationRefused('the address carries a user name');
  if (url.search !== '' || url.hash !== '') throw new DestinationRefused('the address carries a query or fragment');
  return url;
}
