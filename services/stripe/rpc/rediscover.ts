import { timestampDate } from '@bufbuild/protobuf/wkt';
import type Stripe from 'stripe';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import { EntryKind, type InquireRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Context, requestOptions } from '../adapter-context.ts';
import { ask } from '../api/ask.ts';
import { ENTRIES, type Entry } from '../ledger/entry.ts';
import { findAuthorization } from '../settlement/advance.ts';
import { getIntent } from '../settlement/intent-ending.ts';
import { authorizationOf } from '../settlement/mark.ts';
import { adoptIntent, adoptSession } from '../webhook/adopt.ts';
import { reconcile } from '../webhook/reconcile.ts';

/** Stripe's clock, ours and core's may differ by this much. */
const SKEW_MS = 60_000;
/** Objects that are looked through; whether more have it cannot be known. */
const MOST_OBJECTS = 10_000;

/**
 * Looks at Stripe for an identifier that the ledger does not have: the ledger may have been restored to an earlier
 * state. `found`: the ledger has it now. `not known`: Stripe could not be asked for it. Throws OutcomeUnknown when
 * Stripe does not answer.
 */
export async function rediscover(context: Context, request: InquireRequest): Promise<'found' | 'absent' | 'not known'> {
  switch (request.kind) {
    case EntryKind.AUTHORIZATION:
      return rediscoverAuthorization(context, request);
    case EntryKind.CAPTURE:
    case EntryKind.VOID:
    case EntryKind.INCREMENT:
    case EntryKind.REFUND:
      return rediscoverOperation(context, request);
    case EntryKind.EXTENSION:
    case EntryKind.CREDIT:
      return 'absent';
    default:
      return 'not known';
  }
}

/** By the time of creation: a list is up to date, while Stripe's search lags. */
async function rediscoverAuthorization(context: Context, request: InquireRequest) {
  const { requestId, account, createdAt } = request;
  if (!createdAt) return 'not known' as const;
  const created = { gte: Math.floor((timestampDate(createdAt).getTime() - SKEW_MS) / 1000) };
  const options = requestOptions(account);
  const { checkout, paymentIntents } = context.stripe;
  const recent = { created, limit: 100 };
  const intent = await findOurs(context, () => paymentIntents.list(recent, options), requestId);
  if (intent === 'too many') return 'not known';
  if (intent) {
    await adoptIntent(context, intent, account);
    return 'found';
  }
  const session = await findOurs(context, () => checkout.sessions.list(recent, options), requestId);
  if (session === 'too many') return 'not known';
  if (!session) return 'absent';
  await adoptSession(context, session, account);
  return 'found';
}

async function findOurs<T extends { metadata: Stripe.Metadata | null }>(
  context: Context,
  list: () => Stripe.ApiListPromise<T>,
  requestId: string,
): Promise<T | 'too many' | undefined> {
  const { answer } = await ask(context, async () => {
    let looked = 0;
    for await (const object of list()) {
      if (authorizationOf(object.metadata)?.requestId === requestId) return { object };
      if (++looked === MOST_OBJECTS) return { object: 'too many' as const };
    }
    return { object: undefined };
  });
  if (!answer) throw new OutcomeUnknown('Stripe did not answer');
  return answer.object;
}

/** Every operation leaves its identifier at the PaymentIntent, or in its refund. */
async function rediscoverOperation(context: Context, request: InquireRequest) {
  const authorization = await findOrAdopt(context, request);
  if (!authorization) return 'not known' as const;
  await catchUp(context, authorization.requestId);
  return (await ENTRIES.find(context.database.query, request.requestId)) ? 'found' : 'absent';
}

/** A request about an authorization; its reference is empty when core does not know it. */
type About = Pick<InquireRequest, 'account' | 'authorizationRequestId' | 'authorizationReference'>;

/**
 * The authorization that a request is about: by its reference at Stripe when the ledger does not have it, or does not
 * know its PaymentIntent. Throws OutcomeUnknown when Stripe does not answer.
 */
export async function findOrAdopt(context: Context, request: About): Promise<Entry | undefined> {
  const { account, authorizationReference: intentId, authorizationRequestId } = request;
  const known = await findAuthorization(context, authorizationRequestId);
  if (known?.stage === 'ended' || known?.intentId || !/^pi_\w+$/.test(intentId)) return known;
  const { answer: intent, failure } = await ask(context, () => getIntent(context, { intentId, account }));
  if (failure && failure.kind !== 'refused') throw new OutcomeUnknown('Stripe did not answer');
  if (authorizationOf(intent?.metadata)?.requestId !== authorizationRequestId) return known;
  return intent && adoptIntent(context, intent, account);
}

/** Books all that Stripe has of an authorization. Throws OutcomeUnknown unless it has ended by then. */
export async function catchUp(context: Context, requestId: string): Promise<void> {
  const isAnswered = await context.leases.alone(requestId, () => reconcile(context, requestId));
  const settled = isAnswered ? await findAuthorization(context, requestId) : undefined;
  if (settled?.stage !== 'ended') throw new OutcomeUnknown('Stripe did not answer');
}
