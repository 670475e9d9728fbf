import { v7 as uuidv7 } from 'uuid';
import { signNotification } from '../../../../client/webhooks/signature.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { endpointName } from '../../storage/endpoint/endpoint.ts';
import { readEndpointTerms } from '../../storage/endpoint/endpoint-terms.ts';
import {
  type Replay,
  readStored,
  replayStored,
  type StoredRow,
} from '../../storage/notification/stored-notifications.ts';
import type { Core, Method } from '../core.ts';
import { noSuch } from '../refuse.ts';
import { presentStored } from './present-stored.ts';

/** Forwards a stored notification, also one that was forwarded before. */
export const replayStoredNotification: Method<'replayStoredNotification'> = async (core, { merchantId, requestId }) => {
  const key = { merchantId, requestId };
  const { query } = core.database;
  const stored = await readStored(query, key);
  if (!stored) throw noSuch('notification');
  const at = core.clock();
  const action = { at, action: 'notification.replay', target: `${merchantId}/${requestId}` };
  const endpoint = await audited(core.database, action, async (inTransaction) => {
    const parts = { deliveryId: uuidv7(), at, sign: () => sign(core, stored) };
    return demandDelivery(await replayStored(inTransaction, key, parts));
  });
  core.announce([endpointName(endpoint)]);
  const now = await readStored(query, key);
  return now ? { notification: presentStored(now) } : {};
};

/** The signature of the sender, made with the secret in use. Throws INVALID_REQUEST when there is none. */
async function sign(core: Core, stored: StoredRow): Promise<string> {
  const terms = await readEndpointTerms(core.database.query, core.cipher, [stored.merchantId]);
  const [older] = terms.get(stored.merchantId)?.secrets ?? [];
  if (older === undefined) throw new HoldfastError('INVALID_REQUEST', 'the merchant has no live signing secret');
  return signNotification(older, stored);
}

function demandDelivery(replay: Replay) {
  if (replay === 'PURGED') throw new HoldfastError('INVALID_REQUEST', 'the body of the notification was purged');
  if (replay === 'NO_ENDPOINT') throw new HoldfastError('INVALID_REQUEST', 'the merchant has no internalUrl');
  return replay;
}
