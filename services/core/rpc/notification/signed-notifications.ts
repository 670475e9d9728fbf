import { create, type MessageShape } from '@bufbuild/protobuf';
import type { Clock } from '../../../../platform/clock.ts';
import { WatchNotificationsResponseSchema } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { notifiedBody } from '../../books/operation-result.ts';
import { attemptHeaders, notificationPath } from '../../delivery/attempt-request.ts';
import { notificationOf, OPERATION_KINDS } from '../../domain/kinds.ts';
import type { Cipher } from '../../storage/cipher.ts';
import type { Query } from '../../storage/database.ts';
import { type NotifiedRow, readNotified } from '../../storage/delivery/read-notified.ts';
import { readEndpointTerms } from '../../storage/endpoint/endpoint-terms.ts';
import { type OperationRow, positionOf } from '../../storage/operation/operation-row.ts';
import { tokenOf } from '../operation/stream-token.ts';

type Message = MessageShape<typeof WatchNotificationsResponseSchema>;
/** By requestId; a result without a notification is missing. */
type Signed = ReadonlyMap<string, Message>;

export type SignedNotifications = ReturnType<typeof openSignedNotifications>;

/**
 * Signs the notifications of results for streams. Those of a merchant that follow each other are read with its secrets
 * in one go, and for all of its streams that ask for them within a second: a hundred streams cost the database what one
 * costs.
 */
export function openSignedNotifications(query: Query, cipher: Cipher, clock: Clock) {
  const shared = new Map<string, Promise<Signed>>();

  async function sign(merchantId: string, results: readonly OperationRow[]): Promise<Signed> {
    const ids = results.map(({ requestId }) => requestId);
    const [facts, terms] = await Promise.all([
      readNotified(query, ids),
      readEndpointTerms(query, cipher, [merchantId]),
    ]);
    const secrets = terms.get(merchantId)?.('webhook').secrets() ?? [];
    const at = clock();
    const signed = new Map<string, Message>();
    for (const result of results) {
      const fact = facts.get(result.requestId);
      if (!fact) continue;
      const notification = signedNotification(result, fact, secrets, at);
      const resumeToken = tokenOf(positionOf(result), merchantId, cipher);
      signed.set(result.requestId, create(WatchNotificationsResponseSchema, { notification, resumeToken }));
    }
    return signed;
  }

  /** Reads the notifications of results, and forgets them when they are too old to be sent as signed now. */
  function read(merchantId: string, results: readonly OperationRow[]): Promise<Signed> {
    const reading = sign(merchantId, results);
    for (const { requestId } of results) shared.set(requestId, reading);
    const forget = () => {
      for (const { requestId } of results) if (shared.get(requestId) === reading) shared.delete(requestId);
    };
    setTimeout(forget, SHARED_MS).unref();
    reading.catch(forget);
    return reading;
  }

  return {
    /**
     * The message about the result at `index` of a merchant's results, undefined when it has no notification. Those
     * after it are read with it. The signature is at most SHARED_MS old, and no secret signs that was retired before.
     */
    async at(merchantId: string, results: readonly OperationRow[], index: number): Promise<Message | undefined> {
      const result = results[index];
      if (!result || !isNotified(result)) return undefined;
      const isUnread = (next: OperationRow) => isNotified(next) && !shared.has(next.requestId);
      const known = shared.get(result.requestId);
      const reading = known ?? read(merchantId, results.slice(index, index + READ_TOGETHER).filter(isUnread));
      return (await reading).get(result.requestId);
    },
  };
}

/** Bodies that are held in memory for streams that may have stalled. */
const READ_TOGETHER = 20;

/** A stream that reaches a result within this time shares what another stream has read. */
const SHARED_MS = 1_000;

function isNotified({ kind, holdSequence }: OperationRow): boolean {
  return holdSequence !== null || OPERATION_KINDS[kind].alwaysNotified;
}

/** With a delivery it is what its next attempt would send; without one it is made from the books. */
function signedNotification(result: OperationRow, facts: NotifiedRow, secrets: readonly string[], at: Date) {
  const { requestId, kind, statusInfo } = result;
  const body = facts.body ?? Buffer.from(notifiedBody(result, facts));
  const headers = attemptHeaders({ id: facts.deliveryId ?? requestId, body, signature: null }, secrets, at);
  return {
    path: notificationPath({ kind: notificationOf(kind, result), statusInfo }),
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
    body: body.toString('utf8'),
  };
}
