import { notPerformed } from '../../../platform/adapter/ending.ts';
import { findingOf, type InquiryReply } from '../../../platform/adapter/identifier.ts';
import { Finding, type InquireRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { ENTRIES, type Entry, intentOf, resultOf } from '../ledger/entry.ts';
import { advance, findAuthorization } from '../settlement/advance.ts';
import { endAuthorization, settleByLook } from '../settlement/authorization.ts';
import { settleCheckout } from '../settlement/checkout.ts';
import { conclude } from '../settlement/finish.ts';
import { isAwaitingCustomer, settleStepUp } from '../settlement/step-up.ts';
import { rediscover } from './rediscover.ts';

/** A look at the same payment is over by then; for a call that takes longer, the inquiry comes again. */
const SHORT_WAIT_MS = 1_000;

/**
 * Returns what became of an identifier, and finds it out when that is not known. With `fence`, one that neither the
 * ledger nor Stripe has seen is refused for ever: the first to store the identifier, this or its request, decides; and
 * an authorization that was not confirmed is cancelled. Throws OutcomeUnknown while Stripe does not say.
 */
export async function inquire(context: Context, request: InquireRequest): Promise<InquiryReply> {
  const { requestId, fence } = request;
  const known = await ENTRIES.find(context.database.query, requestId);
  if (!known) return fence ? rediscoverOrFence(context, request) : { finding: Finding.NEVER_SEEN, fenced: false };
  if (known.kind === 'fence' || known.stage === 'ended') return findingOf(known, resultOf(known));
  const turn = await context.leases.run(known.authorizationRequestId ?? requestId, SHORT_WAIT_MS, () =>
    findOut(context, request),
  );
  const found = turn?.done ?? known;
  return findingOf(found, resultOf(found));
}

async function rediscoverOrFence(context: Context, request: InquireRequest): Promise<InquiryReply> {
  const was = await rediscover(context, request);
  if (was === 'found') return inquire(context, request);
  if (was === 'not known') return { finding: Finding.NEVER_SEEN, fenced: false };
  const { requestId, merchantId, account } = request;
  const fencing = intentOf('fence', { requestId, merchantId, account });
  const { refused } = await conclude(context, fencing, notPerformed('fenced', ''));
  // Its request came in between: then that is what became of it.
  if (refused && refused.errorCode !== 'fenced') return inquire(context, request);
  return { finding: Finding.NEVER_SEEN, fenced: true };
}

async function findOut(context: Context, request: InquireRequest): Promise<Entry | undefined> {
  const { requestId, fence } = request;
  const { query } = context.database;
  const stored = await ENTRIES.find(query, requestId);
  // Stored only, as far as the ledger knows; Stripe may know more of it.
  const isFound = fence && stored?.stage === 'stored' && (await rediscover(context, request)) === 'found';
  const entry = isFound ? await ENTRIES.find(query, requestId) : stored;
  if (!entry || entry.stage === 'ended') return entry;
  if (entry.kind === 'checkout') return settleCheckout(context, entry);
  if (entry.kind === 'authorization') {
    if (isAwaitingCustomer(entry)) return settleStepUp(context, entry);
    if (fence || entry.stage === 'fencing') return endAuthorization(context, entry);
    return entry.stage === 'sent' ? settleByLook(context, entry) : undefined;
  }
  const authorization = await findAuthorization(context, entry.authorizationRequestId ?? '');
  return authorization && advance(context, entry, authorization);
}
