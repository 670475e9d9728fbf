import { editDistance } from '../../../../platform/edit-distance.ts';
import { NOTIFICATION_TYPES, TYPE_GROUPS } from '../../domain/notification-types.ts';
import type { EndpointPurpose } from '../../storage/delivery/delivery-row.ts';

const KNOWN = [...NOTIFICATION_TYPES, ...TYPE_GROUPS];

/**
 * Why an endpoint cannot ask for a type; undefined = it can. A relayed notification has whatever word its sender chose,
 * so an internal endpoint may ask for any of a payment or an OCT.
 */
export function faultOfType(type: string, purpose: EndpointPurpose): string | undefined {
  if (KNOWN.includes(type)) return undefined;
  if (purpose === 'internal' && /^(payment|oct)\./.test(type)) return undefined;
  const [nearest] = KNOWN.toSorted((a, b) => editDistance(type, a) - editDistance(type, b));
  return `${type} is not a type of notification: the nearest is ${nearest}`;
}
