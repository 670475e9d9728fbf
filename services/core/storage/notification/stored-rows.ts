import { type Query, readRow, type Statement, sql } from '../database.ts';
import { insertForwards } from '../delivery/insert-deliveries.ts';
import { replayOne } from '../delivery/make-due-again.ts';
import type { EndpointKey } from '../endpoint/endpoint-row.ts';
import { internalEndpoints } from '../endpoint/fan-out.ts';
import type { AcceptedRow, NotificationKey } from './accepted-row.ts';

/** An accepted notification, and where it stands. */
export interface StoredRow extends AcceptedRow {
  /** It waits until its merchant has an internalUrl. */
  readonly parked: boolean;
  /** Its body was purged, so it cannot be forwarded. */
  readonly purged: boolean;
  /** The delivery that forwards it; null = none does. */
  readonly deliveryId: string | null;
}

export interface StoredFilter {
  /** Null = all merchants'. */
  readonly merchantId: string | null;
  readonly parkedOnly: boolean;
  /** The last one of the page before; undefined = the first page. */
  readonly after: (NotificationKey & { readonly receivedAt: Date }) | undefined;
}

/** Reads one notification, purged or not. */
export function readStored(query: Query, key: NotificationKey): Promise<StoredRow | undefined> {
  return readRow<StoredRow>(query, READ_ONE, [key.merchantId, key.requestId]);
}

/** Lists notifications that are not purged, newest first. */
export function listStored(query: Query, filter: StoredFilter, limit: number): Promise<StoredRow[]> {
  const { merchantId, parkedOnly, after } = filter;
  const statement = listStatement(merchantId !== null, parkedOnly);
  const from = after ?? { receivedAt: new Date(LAST_MS), merchantId: '', requestId: '' };
  const values = [limit, from.receivedAt, from.merchantId, from.requestId];
  return query<StoredRow>(statement, merchantId === null ? values : [...values, merchantId]);
}

/** The result of a replay: the endpoints that it goes to. */
export type Replay = readonly EndpointKey[] | 'PURGED' | 'NO_ENDPOINT';

/**
 * Forwards a stored notification, possibly once more: by its delivery, else by a new one with the id `deliveryId`. Must
 * be called in a transaction.
 */
export async function replayStored(query: Query, key: NotificationKey, deliveryId: string, at: Date): Promise<Replay> {
  const name = [key.merchantId, key.requestId];
  const [row] = await query<{ parkedSignature: string | null; addressed: boolean }>(LOCK_ONE, name);
  if (!row?.addressed) return 'NO_ENDPOINT';
  const delivered = (await readStored(query, key))?.deliveryId;
  if (delivered) {
    const replayed = await replayOne(query, delivered, at);
    return replayed ? [replayed] : 'PURGED';
  }
  if (row.parkedSignature === null) return 'PURGED';
  const due = await query<EndpointKey>(FORWARD_ONE, [...name, deliveryId, row.parkedSignature, at]);
  return due.length > 0 ? due : 'PURGED';
}

/** Later than any notification. */
const LAST_MS = Date.UTC(9999, 0, 1);

/**
 * The oldest internal delivery with the notification's name that was not made by a release from quarantine: that to
 * internalUrl, or without one to another endpoint.
 */
const DELIVERY = `left join lateral (
    select d.id from delivery d
    where d.request_id = any (array[n.request_id]) and d.merchant_id = n.merchant_id and d.endpoint_kind like 'internal%'
      and not exists (select from quarantined_notification q where q.delivery_id = any (array[d.id]))
    order by d.endpoint_kind <> 'internal', d.id limit 1) d on true`;

const COLUMNS = `n.merchant_id, n.request_id, n.kind, n.status_info, n.status, n.amount, n.currency, n.received_at,
  n.identifier,
  n.parked_signature is not null as parked, n.body is null as purged, d.id as delivery_id`;

const READ_ONE = sql('read-stored-notification')`select ${COLUMNS} from notification n ${DELIVERY}
    where n.merchant_id = $1 and n.request_id = $2`;

/** One statement for each set of filters, so that each is planned with its own index. */
function listStatement(ofMerchant: boolean, parkedOnly: boolean): Statement {
  const name = `list-stored-notifications${ofMerchant ? '-of-merchant' : ''}${parkedOnly ? '-parked' : ''}`;
  return sql(name)`select ${COLUMNS} from (
      select * from notification
      where body is not null and received_at <= $2 and (received_at, merchant_id, request_id) < ($2, $3, $4)
        ${ofMerchant ? 'and merchant_id = $5' : ''} ${parkedOnly ? 'and parked_signature is not null' : ''}
      order by received_at desc, merchant_id desc, request_id desc limit $1) n ${DELIVERY}
    order by n.received_at desc, n.merchant_id desc, n.request_id desc`;
}

const LOCK_ONE = sql('lock-stored-notification')`
    select n.parked_signature as "parkedSignature",
      exists (${internalEndpoints('m', 'n.kind', 'n.status_info')}) as addressed
    from notification n join merchant m on m.id = n.merchant_id
    where n.merchant_id = $1 and n.request_id = $2 for update of n`;

const FORWARD_ONE = sql('forward-stored-notification')`with unparked as (
    update notification set parked_signature = null
    where merchant_id = $1 and request_id = $2 and body is not null
    returning merchant_id, request_id, kind, status_info, body, relayed_headers
  )
  ${insertForwards({ id: '$3', signature: '$4', at: '$5', from: 'unparked' })}`;
