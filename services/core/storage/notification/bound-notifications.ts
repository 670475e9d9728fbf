import type { NotificationInput } from './accepted-row.ts';

/**
 * Binds notifications to a statement: as $1 their fields in one JSON value, as $2 their bodies, one behind the other,
 * so that no body is encoded (measured: docs/performance.md). NOTIFICATIONS reads them.
 */
export function boundNotifications(notifications: readonly NotificationInput[]): [fields: string, bodies: Buffer] {
  let bodyAt = 1;
  const fields = notifications.map((notification) => {
    const bodyBytes = notification.body.length;
    const bound = { ...notification, body: undefined, bodyAt, bodyBytes };
    bodyAt += bodyBytes;
    return bound;
  });
  return [JSON.stringify(fields), Buffer.concat(notifications.map(({ body }) => body))];
}

/** SQL that reads bound notifications: the columns of their fields, and a body, of the row `i`. */
export const NOTIFICATIONS = {
  columns: `"merchantId" text, "requestId" text, kind text, "statusInfo" text, status text, amount text,
      currency text, signature text, "deliveryId" uuid, "receivedAt" timestamptz, "bodyAt" int, "bodyBytes" int,
      identifier text, digest text, "relayedHeaders" jsonb, forward bool`,
  body: 'substring($2::bytea from i."bodyAt" for i."bodyBytes")',
} as const;
