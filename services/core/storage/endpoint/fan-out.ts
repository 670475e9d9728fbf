/** SQL that makes one delivery for each further endpoint that asks for a notification. */

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
