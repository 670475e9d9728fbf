import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import { DeliveryAttemptSchema, DeliverySchema } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { DeliveryAttemptRow, DeliveryRow, Fault } from '../../storage/delivery/delivery-row.ts';
import { type DeliveryHead, findDelivery, listAttempts } from '../../storage/delivery/read-deliveries.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { readPage } from '../pages.ts';
import { present } from '../present.ts';
import { noSuch } from '../refuse.ts';
import { isInScope, roleOf } from '../server/caller.ts';

/** A delivery; never its body. */
export function presentDelivery(
  row: DeliveryHead,
  attempts: MessageInitShape<typeof DeliverySchema>['attempts'] = [],
): MessageInitShape<typeof DeliverySchema> {
  return present(DeliverySchema, row, { deliveryId: row.id, attempts });
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
  const { page, nextPageToken } = await readPage(bounded, { deliveryId }, BY_NUMBER, {
    read: (after, limit) =>
      listAttempts(core.database, deliveryId, after === undefined ? undefined : Number(after), limit),
    present: isMerchant(context) ? presentToMerchant : presentAttempt,
  });
  return { attempts: page.reverse(), nextPageToken };
}

/** Whether a call is made for a merchant, which sees what it receives but not what our network shows. */
export function isMerchant(context: HandlerContext): boolean {
  return roleOf(context) === 'gateway';
}

/** An attempt may be 8 KiB, a message 1 MiB. */
const MAX_PAGE = 50;

const BY_NUMBER = {
  isKey: (text: string) => /^[1-9]\d{0,8}$/.test(text),
  keyOf: ({ number }: { readonly number: number }) => String(number),
};

function presentAttempt(row: DeliveryAttemptRow) {
  return present(DeliveryAttemptSchema, row);
}

/** The details would show a merchant which names and addresses exist in the network of the service. */
function presentToMerchant(row: DeliveryAttemptRow) {
  return { ...presentAttempt(row), ...(row.fault && { error: COARSE[row.fault] }) };
}

const UNREACHABLE = 'the endpoint cannot be reached';
const COARSE: Readonly<Record<Fault, string>> = {
  LOOKUP: UNREACHABLE,
  UNREACHABLE,
  TLS: 'the TLS connection failed: check the certificate and its chain',
  TIMEOUT: 'no complete answer in time',
  PROTOCOL: 'the connection broke, or the answer was no valid HTTP',
};
