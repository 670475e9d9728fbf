import { type Accepted, acceptNotifications, type NotificationInput } from '../../storage/accept-notifications.ts';
import { StatementGather } from '../../storage/statement-gather.ts';
import type { Core } from '../core.ts';

/** What the handlers of notifications work with besides what every handler does. */
export interface NotificationCore extends Core {
  readonly accepting: StatementGather<NotificationInput, Accepted>;
}

/** Concurrent notifications share commits; two of one name never share a statement. */
export function notificationCore(core: Core): NotificationCore {
  const accepting = new StatementGather<NotificationInput, Accepted>(
    (batch) => acceptNotifications(core.database.query, batch),
    { maxBatch: 256, lanes: 2, keyOf: ({ merchantId, requestId }) => `${merchantId} ${requestId}` },
  );
  return { ...core, accepting };
}
