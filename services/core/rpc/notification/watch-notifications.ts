import { create } from '@bufbuild/protobuf';
import { WatchNotificationsResponseSchema } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { notifiedBody } from '../../books/operation-result.ts';
import { attemptHeaders, notificationPath } from '../../delivery/attempt-request.ts';
import { OPERATION_KINDS } from '../../domain/kinds.ts';
import { type NotifiedRow, readNotified } from '../../storage/delivery/read-notified.ts';
import { readEndpointTerms } from '../../storage/endpoint/endpoint-terms.ts';
import type { OperationRow } from '../../storage/operation/operation-row.ts';
import type { Core, Method } from '../core.ts';
import { followLog, tokenOf } from '../operation/follow-log.ts';

/**
 * Streams a merchant's notifications in commit order, signed as they are sent. One that has a delivery is what its next
 * attempt would send; one without is made from the books, and its requestId is its webhook-id. Errors:
 * STREAM_TOKEN_TOO_OLD, INVALID_REQUEST, as followLog() says.
 */
export const watchNotifications: Method<'watchNotifications'> = async function* (core, request, { signal }) {
  const { merchantId, resumeToken } = request;
  for await (const { results, position } of followLog(core, merchantId, resumeToken, signal)) {
    const mine = results.filter((result) => result.merchantId === merchantId);
    for (let at = 0; at < mine.length; at += READ_TOGETHER) {
      const part = mine.slice(at, at + READ_TOGETHER);
      const ids = part.map(({ requestId }) => requestId);
      const notified = await readNotified(core.reads.query, ids);
      for (const result of part) {
        const facts = notified.get(result.requestId);
        if (!facts || !isNotified(result)) continue;
        const notification = signed(result, facts, await secretsOf(core, merchantId), core.clock());
        yield create(WatchNotificationsResponseSchema, { notification, resumeToken: tokenOf(result) });
        if (signal.aborted) return;
      }
    }
    if (results.length === 0) yield create(WatchNotificationsResponseSchema, { resumeToken: tokenOf(position) });
  }
};

/** Bodies that a reader that stalls holds in memory. */
const READ_TOGETHER = 20;

function isNotified({ kind, holdSequence }: OperationRow): boolean {
  return holdSequence !== null || OPERATION_KINDS[kind].alwaysNotified;
}

/** Read for each notification, as for each attempt: a secret that was retired signs nothing more. */
async function secretsOf({ reads: { query }, cipher }: Core, merchantId: string): Promise<readonly string[]> {
  return (await readEndpointTerms(query, cipher, [merchantId])).get(merchantId)?.secrets() ?? [];
}

function signed(result: OperationRow, facts: NotifiedRow, secrets: readonly string[], at: Date) {
  const { requestId, kind, statusInfo } = result;
  const body = facts.body ?? Buffer.from(notifiedBody(result, facts));
  const headers = attemptHeaders({ id: facts.deliveryId ?? requestId, body, signature: null }, secrets, at);
  return {
    path: notificationPath({ kind: OPERATION_KINDS[kind].notification, statusInfo }),
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
    body: body.toString('utf8'),
  };
}
