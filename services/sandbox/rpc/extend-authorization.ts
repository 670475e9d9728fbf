import type { ExtendAuthorizationRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { notPerformed } from '../behaviour.ts';
import { type Intent, NO_INTENT } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { remainingOf } from './authorization.ts';
import { closed, follow, unable } from './follow.ts';
import type { Outcome } from './outcome.ts';

/** Lets an authorization of which something is left end a whole hold period from now. */
export function extendAuthorization(books: Books, request: ExtendAuthorizationRequest, nowMs: number): Outcome {
  const { requestId, authorizationRequestId, merchantId, account } = request;
  const intent: Intent = { ...NO_INTENT, requestId, kind: 'extension', authorizationRequestId, merchantId, account };
  return follow(books, intent, nowMs, (authorization) => {
    const refusal = unable(authorization, 'extension') ?? closed(authorization, nowMs);
    if (refusal || remainingOf(authorization) > 0) return refusal;
    return notPerformed('authorization_closed', 'Nothing is left of the authorization.');
  });
}
