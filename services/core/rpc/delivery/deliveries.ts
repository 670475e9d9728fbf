import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import { DeliveryAttemptSchema, DeliverySchema } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { attemptHeaders, notificationUrl } from '../../delivery/attempt-request.ts';
import { HIDDEN, withoutSecrets } from '../../delivery/secret-fields.ts';
import type { DeliveryAttemptRow, DeliveryRow, Fault } from '../../storage/delivery/delivery-row.ts';
import {
  type DeliveryFilter,
  type DeliveryHead,
  findDelivery,
  listAttempts,
  listDeliveries as listStored,
} from '../../storage/delivery/read-deliveries.ts';
import { type EndpointTerms, readEndpointTerms } from '../../storage/endpoint/endpoint-terms.ts';
import type { Core, Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { findOperation } from '../operation/read-operations.ts';
import { BY_ID, filtersOf, readPage } from '../pages.ts';
import { chosenEndpoint, present, presentedEndpoint } from '../present.ts';
import { noSuch } from '../refuse.ts';
import { isInScope, roleOf } from '../server/caller.ts';

/** The endpoint as a request names it. */
interface GivenEndpoint {
  readonly endpointKind?: string;
}

/** Lists deliveries, newest first; their ids are in the order of their creation. */
export const listDeliveries: Method<'listDeliveries'> = async (core, request, context) => {
  const { endpointKind, endpointId, ...same } = filtersOf<DeliveryFilter & GivenEndpoint>(context, request);
  if (same.holdRequestId !== undefined && !isUuid(same.holdRequestId)) return { deliveries: [], nextPageToken: '' };
  const filters = { ...same, ...chosenEndpoint(request) };
  return readPage('deliveries', request, filters, BY_ID, {
    read: (_, after, limit) => listStored(core.reads, filters, after, limit),
    present: (row) => presentDelivery(row),
  });
};

/** Looks up a delivery with its attempts, what it sends, and what it is about. Throws OPERATION_NOT_FOUND. */
export const getDelivery: Method<'getDelivery'> = async (core, request, context) => {
  const delivery = await demandDelivery(core, request.deliveryId, request.merchantId);
  const { id, merchantId, requestId } = delivery;
  const { attempts, nextPageToken } = await presentAttempts(core, context, id, request);
  const terms = (await readEndpointTerms(core.database.query, core.cipher, [merchantId])).get(merchantId);
  const operation = isUuid(requestId) ? await findOperation(core, requestId, merchantId) : undefined;
  const content = terms && contentOf(delivery, terms(delivery.endpointId), core.clock());
  return {
    delivery: presentDelivery(delivery, attempts),
    ...(content && { content: isMerchant(context) ? content : shownContent(content, delivery.body ?? undefined) }),
    ...(operation && { operation }),
    nextPageToken,
  };
};

/** The request that an attempt at the moment `at` would send, byte for byte, but for its owner's headers. */
function contentOf(row: DeliveryRow, terms: EndpointTerms, at: Date) {
  const { id, body, signature = null, relayedHeaders } = row;
  const { url: endpointUrl } = terms;
  const secrets = terms.secrets();
  const hidden: Record<string, string> = Object.fromEntries(Object.keys(terms.headers()).map((name) => [name, HIDDEN]));
  const headers =
    body == null || secrets.length === 0
      ? {}
      : { ...hidden, ...attemptHeaders({ id, body, signature, relayedHeaders }, secrets, at) };
  return {
    url: endpointUrl === null ? '' : notificationUrl(endpointUrl, row).href,
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
    body: body?.toString('utf8') ?? '',
  };
}

/** The content without anything that could capture, pay, or pass for a notification. */
function shownContent(content: ReturnType<typeof contentOf>, body: Buffer | undefined) {
  const headers = content.headers.map(({ name, value }) => ({
    name,
    value: name.endsWith('signature') ? beginningOf(value) : value,
  }));
  return { url: content.url, headers, body: body ? withoutSecrets(body) : '' };
}

/** Enough of each signature to compare it with another, and too little to send it. */
function beginningOf(signatures: string): string {
  return signatures
    .split(' ')
    .map((signature) => `${signature.slice(0, SHOWN_CHARACTERS)}…`)
    .join(' ');
}

const SHOWN_CHARACTERS = 12;

/** A delivery; never its body. */
export function presentDelivery(
  row: DeliveryHead,
  attempts: MessageInitShape<typeof DeliverySchema>['attempts'] = [],
): MessageInitShape<typeof DeliverySchema> {
  return present(DeliverySchema, row, { deliveryId: row.id, attempts, ...presentedEndpoint(row.endpointId) });
}

/** One delivery. Throws OPERATION_NOT_FOUND, also when it is not of the merchant; '' = any merchant's. */
export async function demandDelivery(core: Core, deliveryId: string, merchantId: string): Promise<DeliveryRow> {
  const found = isUuid(deliveryId) ? await findDelivery(core.database, deliveryId) : undefined;
  if (!found || !isInScope(found, merchantId || undefined)) throw noSuch('delivery');
  return found;
}

/** A page of a delivery's attempts, from the newest; within a page the oldest is first. */
export async function presentAttempts(
  core: Core,
  context: HandlerContext,
  deliveryId: string,
  request: { readonly pageSize: number; readonly pageToken: string } = { pageSize: 0, pageToken: '' },
) {
  const bounded = { ...request, pageSize: Math.min(request.pageSize || MAX_PAGE, MAX_PAGE) };
  const { attempts, nextPageToken } = await readPage('attempts', bounded, { deliveryId }, BY_NUMBER, {
    read: (_, after, limit) => listAttempts(core.database, deliveryId, after ? Number(after) : undefined, limit),
    present: isMerchant(context) ? presentToMerchant : (row) => present(DeliveryAttemptSchema, row),
  });
  return { attempts: attempts.reverse(), nextPageToken };
}

/** Returns whether a call is on behalf of a merchant, which sees what it receives but not what our network shows. */
export function isMerchant(context: HandlerContext): boolean {
  return roleOf(context) === 'gateway';
}

/** An attempt may be 8 KiB, a message 1 MiB. */
const MAX_PAGE = 50;

const BY_NUMBER = {
  isKey: (text: string) => /^[1-9]\d{0,8}$/.test(text),
  keyOf: ({ number }: { readonly number: number }) => String(number),
};

/** The details would show a merchant which names and addresses exist in the network of the service. */
function presentToMerchant(row: DeliveryAttemptRow) {
  return present(DeliveryAttemptSchema, row, row.fault ? { error: COARSE[row.fault] } : {});
}

const UNREACHABLE = 'the endpoint cannot be reached';
const COARSE: Readonly<Record<Fault, string>> = {
  LOOKUP: UNREACHABLE,
  UNREACHABLE,
  TLS: 'the TLS connection failed: check the certificate and its chain',
  TIMEOUT: 'no complete answer in time',
  PROTOCOL: 'the connection broke, or the answer was no valid HTTP',
};
