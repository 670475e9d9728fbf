import type { MessageInitShape } from '@bufbuild/protobuf';
import type { DeliveryContentSchema } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { attemptHeaders, notificationUrl } from '../../delivery/attempt-request.ts';
import type { DeliveryRow } from '../../storage/delivery/delivery.ts';
import { type EndpointTerms, readEndpointTerms } from '../../storage/endpoint/endpoint-terms.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { findOperation } from '../operation/find-operation.ts';
import { demandDelivery, presentDelivery } from './present-delivery.ts';

/** Looks up a delivery with its attempts, what it sends, and what it is about. Throws OPERATION_NOT_FOUND. */
export const getDelivery: Method<'getDelivery'> = async (core, { deliveryId, merchantId: scope }) => {
  const { database, cipher } = core;
  const { delivery, attempts } = await demandDelivery(core, deliveryId, scope);
  const { merchantId, requestId } = delivery;
  const terms = (await readEndpointTerms(database.query, cipher, [merchantId])).get(merchantId);
  const operation = isUuid(requestId) ? await findOperation(core, requestId, merchantId) : undefined;
  return {
    delivery: presentDelivery(delivery, attempts),
    ...(terms && { content: presentContent(delivery, terms, core.clock()) }),
    ...(operation && { operation }),
  };
};

/** What an attempt at the moment `at` would send, without anything that could capture, pay, or pass for a notification. */
export function presentContent(
  row: DeliveryRow,
  terms: EndpointTerms,
  at: Date,
): MessageInitShape<typeof DeliveryContentSchema> {
  const endpointUrl = terms.urls[row.endpointKind];
  return {
    url: endpointUrl === null ? '' : notificationUrl(endpointUrl, row).href,
    headers: headersOf(row, terms, at),
    body: row.body == null ? '' : shownBody(row.body),
  };
}

function headersOf({ id, body, signature = null }: DeliveryRow, { secrets }: EndpointTerms, at: Date) {
  if (body == null || secrets.length === 0) return [];
  const headers = Object.entries(attemptHeaders({ id, body, signature }, secrets, at));
  return headers.map(([name, value]) => ({ name, value: name.endsWith('signature') ? beginningOf(value) : value }));
}

/** Enough of each signature to compare it with another, and too little to send it. */
function beginningOf(signatures: string): string {
  return signatures
    .split(' ')
    .map((signature) => `${signature.slice(0, SHOWN_CHARACTERS)}…`)
    .join(' ');
}

const SHOWN_CHARACTERS = 12;

/** Fields that capture a hold, open its checkout or pay with its card, wherever they stand. */
const HIDDEN = new Set(['preauthorizationId', 'checkoutUrl', 'tokenId', 'tokenData']);

/** The body with its numbers as they are spelled, laid out over lines. */
function shownBody(body: Buffer): string {
  return JSON.stringify(JSON.parse(body.toString('utf8'), shown as Reviver), null, 2);
}

type Reviver = (key: string, value: unknown) => unknown;

/** JSON.parse with source text access (ECMA-262): rawJSON() keeps the spelling of a number, as 10.50. */
function shown(key: string, value: unknown, context: { source?: string }): unknown {
  if (HIDDEN.has(key)) return '(hidden)';
  return typeof value === 'number' ? (JSON as unknown as RawJson).rawJSON(context.source as string) : value;
}

interface RawJson {
  rawJSON(source: string): object;
}
