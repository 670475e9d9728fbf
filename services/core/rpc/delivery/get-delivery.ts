import { attemptHeaders, notificationUrl } from '../../delivery/attempt-request.ts';
import { withoutSecrets } from '../../delivery/secret-fields.ts';
import type { DeliveryRow } from '../../storage/delivery/delivery-row.ts';
import { type EndpointTerms, readEndpointTerms } from '../../storage/endpoint/endpoint-terms.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { findOperation } from '../operation/find-operation.ts';
import { demandDelivery, isMerchant, presentAttempts, presentDelivery } from './present-delivery.ts';

/** Looks up a delivery with its attempts, what it sends, and what it is about. Throws OPERATION_NOT_FOUND. */
export const getDelivery: Method<'getDelivery'> = async (core, request, context) => {
  const delivery = await demandDelivery(core, request.deliveryId, request.merchantId);
  const { id, merchantId, requestId } = delivery;
  const { attempts, nextPageToken } = await presentAttempts(core, context, id, request);
  const terms = (await readEndpointTerms(core.database.query, core.cipher, [merchantId])).get(merchantId);
  const operation = isUuid(requestId) ? await findOperation(core, requestId, merchantId) : undefined;
  const content = terms && contentOf(delivery, terms, core.clock());
  return {
    delivery: presentDelivery(delivery, attempts),
    ...(content && { content: isMerchant(context) ? content : shownContent(content, delivery.body ?? undefined) }),
    ...(operation && { operation }),
    nextPageToken,
  };
};

interface Content {
  readonly url: string;
  readonly headers: { name: string; value: string }[];
  readonly body: string;
}

/** What an attempt at the moment `at` would send, byte for byte. */
function contentOf(row: DeliveryRow, { urls, secrets }: EndpointTerms, at: Date): Content {
  const { id, body, signature = null } = row;
  const endpointUrl = urls[row.endpointKind];
  const headers = body == null || secrets.length === 0 ? {} : attemptHeaders({ id, body, signature }, secrets, at);
  return {
    url: endpointUrl === null ? '' : notificationUrl(endpointUrl, row).href,
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
    body: body?.toString('utf8') ?? '',
  };
}

/** The content without anything that could capture, pay, or pass for a notification. */
function shownContent(content: Content, body: Buffer | undefined): Content {
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
