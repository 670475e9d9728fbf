import { drawId } from '../../../../platform/draw-id.ts';
import { type OperationalSubject, operationalBody } from '../../domain/notification-body.ts';
import { OPERATIONAL_GROUP, type OperationalType, partsOfType } from '../../domain/notification-types.ts';
import { byIndex } from '../by-index.ts';
import { type Query, sql } from '../database.ts';
import { type EndpointId, shownEndpointId } from '../delivery/delivery-row.ts';
import type { EndpointKey } from './endpoint-row.ts';

/** What the owner of an endpoint is told about it. */
export interface OwnerNotice extends EndpointKey {
  readonly type: OperationalType;
  readonly subject: Omit<OperationalSubject, 'endpointId'>;
}

/**
 * Makes the deliveries that tell merchants about their endpoints: one for each other endpoint that asks for the type by
 * name. Returns the endpoint of each. Call it in the transaction that stores what they are told, so that neither is
 * there without the other.
 */
export async function tellOwners(query: Query, notices: readonly OwnerNotice[], at: Date): Promise<EndpointKey[]> {
  if (notices.length === 0) return [];
  const asked = notices.map(({ merchantId, endpointId, type }, place) => ({ place, merchantId, endpointId, type }));
  const recipients = await query<Recipient>(FIND_RECIPIENTS, [JSON.stringify(asked)]);
  if (recipients.length === 0) return [];
  const told = notices.map((notice) => ({ ...notice, requestId: drawId() }));
  const rows = recipients.flatMap(({ place, endpointId, currency }) => {
    const notice = told[place];
    if (!notice) return [];
    const { merchantId, requestId, type } = notice;
    const subject = { endpointId: shownEndpointId(notice.endpointId), ...notice.subject };
    const body = operationalBody({ merchantId, requestId, currency }, type, subject, at);
    return [{ id: drawId(), merchantId, endpointId, requestId, ...partsOfType(type), body }];
  });
  await query(INSERT_NOTICES, [JSON.stringify(rows), at]);
  return rows.map(({ merchantId, endpointId }) => ({ merchantId, endpointId }));
}

interface Recipient {
  /** Of the notice among those asked about. */
  readonly place: number;
  readonly endpointId: EndpointId;
  /** One of the merchant's, which a signature covers. */
  readonly currency: string;
}

/** An endpoint without types asks for operations alone: its receiver may know nothing else. */
const FIND_RECIPIENTS = sql('find-endpoints-to-tell')`
    select i.place, w.id as endpoint_id, coalesce(m.currencies[1], 'EUR') as currency
    from json_to_recordset($1::json) as i(place int, "merchantId" text, "endpointId" text, type text)
    join merchant m on ${byIndex('m.id', 'i."merchantId"')} and m.has_endpoints
    join webhook_endpoint w on ${byIndex('w.merchant_id', 'm.id')} and w.id like 'webhook-%' and w.id <> i."endpointId"
      and w.types && array[i.type, '${OPERATIONAL_GROUP}']
    order by i.place, w.id`;

const INSERT_NOTICES = sql('insert-owner-notices')`
    insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
      due_at, created_at)
    select id, "merchantId", "endpointId", "requestId", kind, "statusInfo", convert_to(body, 'UTF8'), 'PENDING', 0, $2, $2
    from json_to_recordset($1::json) as i(id uuid, "merchantId" text, "endpointId" text, "requestId" text, kind text,
      "statusInfo" text, body text)`;
