/** SQL that makes one delivery for each endpoint that asks for a notification. */
import { byIndex } from '../by-index.ts';

/**
 * SQL: the id of a delivery to a further endpoint, a UUIDv7 of the same moment as that to the first one, from which it
 * differs in the 62 random bits at its end.
 */
export function furtherDeliveryId(deliveryId: string): string {
  return `overlay(${deliveryId}::text placing right(gen_random_uuid()::text, 17) from 20)::uuid`;
}

/** SQL of a condition: the endpoint `row` asks for notifications of this kind and statusInfo. */
export function wants(row: string, kind: string, statusInfo: string): string {
  return `(${row}.types is null or ${row}.types && array[concat(${kind}, '.', ${statusInfo}), concat(${kind}, '.*')])`;
}

/** SQL of a condition: a merchant `m` has an internal endpoint, whatever it asks for. */
export function hasInternal(m: string): string {
  return `(${m}.internal_url is not null or ${m}.has_endpoints and exists (select from webhook_endpoint w
      where ${byIndex('w.merchant_id', `${m}.id`)} and w.id like 'internal-%'))`;
}

/** SQL that selects the ids of the internal endpoints of `m` that ask for a notification, that of internalUrl first. */
export function internalEndpoints(m: string, kind: string, statusInfo: string): string {
  return `select 'internal' as id where ${m}.internal_url is not null
      union all
      select w.id from webhook_endpoint w
      where ${m}.has_endpoints and ${byIndex('w.merchant_id', `${m}.id`)} and w.id like 'internal-%'
        and ${wants('w', kind, statusInfo)}`;
}
