import { editDistance } from '../../../../platform/edit-distance.ts';
import {
  NOTIFICATION_TYPES,
  OPERATIONAL_GROUP,
  OPERATIONAL_TYPES,
  TYPE_GROUPS,
} from '../../domain/notification-types.ts';
import type { EndpointPurpose } from '../../storage/delivery/delivery-row.ts';

const OF_OPERATIONS = [...NOTIFICATION_TYPES, ...TYPE_GROUPS];
const OPERATIONAL = [...Object.keys(OPERATIONAL_TYPES), OPERATIONAL_GROUP];
const KNOWN = [...OF_OPERATIONS, ...OPERATIONAL];

/**
 * Why an endpoint cannot ask for a type; undefined = it can. A relayed notification has whatever word its sender chose,
 * so an internal endpoint may ask for any of a payment or an OCT. What tells the owner comes through no relay.
 */
export function faultOfType(type: string, purpose: EndpointPurpose): string | undefined {
  if (purpose === 'internal') {
    if (/^(payment|oct)\./.test(type)) return undefined;
    if (OPERATIONAL.includes(type)) return `${type} goes to endpoints of the purpose merchant only`;
  }
  const known = purpose === 'internal' ? OF_OPERATIONS : KNOWN;
  if (known.includes(type)) return undefined;
  const [nearest] = known.toSorted((a, b) => editDistance(type, a) - editDistance(type, b));
  return `${type} is not a type of notification: the nearest is ${nearest}`;
}
