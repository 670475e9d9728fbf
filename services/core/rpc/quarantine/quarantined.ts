import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type QuarantinedNotificationSchema,
  QuarantineReason,
  QuarantineState,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import type { AcceptedRow, NotificationKey } from '../../storage/notification/notification.ts';
import {
  findQuarantined,
  type QuarantinedHead,
  readAccepted,
} from '../../storage/notification/quarantined-notification.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { presentAccepted } from '../notification/present-stored.ts';
import { notificationKindOf, presentFields } from '../present.ts';
import { noSuch } from '../refuse.ts';

/**
 * Decides about a quarantined notification; repeating a decision changes nothing. `decide` is called while it is held. Throws
 * OPERATION_NOT_FOUND, and INVALID_REQUEST when the decision was another one or cannot be carried out.
 */
export async function decideQuarantined(
  core: Core,
  quarantineId: string,
  decision: 'RELEASED' | 'DISCARDED',
  decide: (row: QuarantinedHead) => Promise<unknown>,
) {
  const row = await find(core, quarantineId);
  if (row.state === 'HELD') await decide(row);
  const decided = await find(core, quarantineId);
  if (decided.state !== decision) throw new HoldfastError('INVALID_REQUEST', WHY_NOT[decided.state]);
  const [notification] = await presentQuarantined(core, [decided]);
  return { notification };
}

const WHY_NOT = {
  HELD: 'it cannot be forwarded: the merchant has no internalUrl, or the body was purged',
  RELEASED: 'it was released before',
  DISCARDED: 'it was discarded before',
};

async function find(core: Core, id: string): Promise<QuarantinedHead> {
  const row = isUuid(id) ? await findQuarantined(core.database, id) : undefined;
  if (!row) throw noSuch('notification');
  return row;
}

/** Quarantined notifications as operators see them, each with the notification that was accepted under the same name. */
export async function presentQuarantined(core: Core, rows: readonly QuarantinedHead[]) {
  const nameOf = ({ merchantId, requestId }: NotificationKey) => `${merchantId} ${requestId}`;
  const accepted = rows.length === 0 ? [] : await readAccepted(core.database.query, rows);
  const byName = new Map(accepted.map((each) => [nameOf(each), each]));
  return rows.map((row) => present(row, byName.get(nameOf(row))));
}

/** Never a body or a signature. */
function present(
  row: QuarantinedHead,
  accepted: AcceptedRow | undefined,
): MessageInitShape<typeof QuarantinedNotificationSchema> {
  return {
    ...presentFields(row, 'merchantId', 'requestId', 'statusInfo', 'status', 'amount', 'currency'),
    ...presentFields(row, 'receivedAt', 'decidedAt', 'deliveryId'),
    quarantineId: row.id,
    kind: notificationKindOf(row.kind),
    reason: QuarantineReason[row.reason],
    state: QuarantineState[row.state],
    ...(accepted && { accepted: presentAccepted(accepted) }),
  };
}
