import { hash } from 'node:crypto';
import { drawId } from '../../../../platform/draw-id.ts';
import { traceParent } from '../../../../platform/tracing.ts';
import type { Method } from '../core.ts';

/**
 * Stores a notification of a merchant's other sender, and has it forwarded. Its body decides whether it is the same as
 * one that was stored under its identifier.
 */
export const acceptRelayedNotification: Method<'acceptRelayedNotification'> = async (core, request) => {
  const { merchantId, senderId, identifier, body } = request;
  const requestId = relayedRequestId(senderId, identifier);
  const outcome = await core.accept({
    merchantId,
    requestId,
    kind: 'relay',
    statusInfo: senderId,
    status: '',
    amount: '',
    currency: '',
    body,
    signature: '',
    deliveryId: drawId(),
    receivedAt: core.clock().toISOString(),
    traceParent: request.traceParent || traceParent(),
    identifier,
    digest: hash('sha256', body),
    relayedHeaders: Object.fromEntries(request.headers.map(({ name, value }) => [name, value])),
    forward: request.forward,
  });
  return { outcome, requestId };
};

/**
 * The requestId of a sender's notification: identifiers of several senders may be equal, or longer than a requestId.
 * 162 bits of a hash never meet by chance.
 */
export function relayedRequestId(senderId: string, identifier: string): string {
  return `${senderId}:${hash('sha256', identifier, 'base64url').slice(0, 27)}`;
}
