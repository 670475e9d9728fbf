import { absent, judge, totalOf } from '../../../platform/adapter/authorization.ts';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import type { ResultInit } from '../../../platform/adapter/entry.ts';
import type { Recalled } from '../../../platform/adapter/identifier.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { isReturnUrl } from '../../../platform/return-url.ts';
import { Answer, type VoidRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { toAdyen } from '../amount.ts';
import { ENTRIES, type Entry, type Intent, intentOf, type State } from '../ledger/entry.ts';
import { advance } from '../settlement/advance.ts';
import { type Ending, resultOf, settle } from '../settlement/settle.ts';
import { closePage, isStepUp, waitingForCustomer } from '../settlement/step-up.ts';

type Stored = Recalled<Entry>;

/**
 * Reserves an amount on a stored card; with a way back for the customer, after the customer's page. Adyen pays to cards
 * by another interface. Throws OutcomeUnknown.
 */
export async function place(context: Context, kind: 'authorization' | 'credit', request: object): Promise<ResultInit> {
  const intent = intentOf(kind, request);
  const unable = kind === 'credit' ? notPerformed('not_supported', 'The adapter does not pay to cards.') : undefined;
  const isSteppedUp = kind === 'authorization' && context.pages !== undefined && intent.returnUrl !== '';
  const ending =
    unable ?? amountRefusal(intent) ?? tokenRefusal(intent) ?? (isSteppedUp ? wayRefusal(intent) : undefined);
  const waiting = isSteppedUp && !ending ? waitingForCustomer(context.now(), request) : undefined;
  return finish(
    context,
    await context.database.transaction((query) => store(context, query, intent, { ending, ...waiting })),
  );
}

function wayRefusal({ returnUrl }: Intent): Ending | undefined {
  if (isReturnUrl(returnUrl)) return undefined;
  return notPerformed('return_url_invalid', 'It must be https, or http on the loopback address.');
}

/** Adyen counts some currencies otherwise than ISO 4217; an amount that it cannot take exactly is refused. */
function amountRefusal({ amount, currency }: Pick<Intent, 'amount' | 'currency'>): Ending | undefined {
  if (toAdyen(amount, currency) !== undefined) return undefined;
  return notPerformed('amount_not_supported', `Adyen does not take exactly this amount of ${currency}.`);
}

/** Adyen rejects the form of a longer one, rather than that it does not know it. */
const LONGEST_TOKEN = 64;

function tokenRefusal({ tokenId }: Pick<Intent, 'tokenId'>): Ending | undefined {
  if (tokenId.length <= LONGEST_TOKEN) return undefined;
  return notPerformed('token_invalid', `Adyen's tokens have at most ${LONGEST_TOKEN} characters.`);
}

/** A kind of operation on an authorization. */
type ModificationKind = 'capture' | 'void' | 'increment' | 'decrease' | 'extension' | 'refund';

/**
 * Does an operation on an authorization. It is judged and stored under the lock of the authorization, so that what has
 * not ended holds back what it takes; Adyen is asked after that. Throws OutcomeUnknown.
 */
export async function modify(
  context: Context,
  kind: ModificationKind,
  request: Pick<VoidRequest, 'authorizationRequestId' | 'authorizationReference'>,
): Promise<ResultInit> {
  const intent = intentOf(kind, request);
  if (kind === 'void') await settleStepUp(context, request.authorizationRequestId);
  const stored = await context.database.transaction(async (query): Promise<Stored> => {
    const authorization = await ENTRIES.lock(query, request.authorizationRequestId);
    if (authorization?.kind !== 'authorization') return store(context, query, intent, { ending: absent(request) });
    const known = await ENTRIES.recall(query, intent);
    if (known) return known;
    const entries = await ENTRIES.ofAuthorization(query, authorization.requestId);
    const { adjustments } = context;
    const asked = { ...intent, currency: intent.currency || authorization.currency };
    const closed = await closePage(context, query, intent, authorization);
    const judged = closed ?? judge({ intent, authorization, entries, adjustments, now: context.now() });
    const ending = judged ?? amountRefusal(asked);
    return store(context, query, intent, { ending, total: totalAfter(authorization, intent) });
  });
  return finish(context, stored);
}

/** Finds out what can be found out about an authorization whose customer takes part. */
async function settleStepUp(context: Context, requestId: string): Promise<void> {
  const authorization = await ENTRIES.find(context.database.query, requestId);
  if (authorization && isStepUp(authorization)) await advance(context, requestId);
}

/** The amount that is authorised after an operation; what decreases gave back is not. */
function totalAfter(authorization: Entry, { kind, amount }: Intent): bigint {
  const total = totalOf(authorization) - authorization.voided;
  if (kind === 'increment') return total + amount;
  return kind === 'decrease' ? total - amount : total;
}

/** An answer is waited for this long before the operation is sent again in the background. */
const SENT_AGAIN_MS = 10_000;

/** Stores what is asked; `ending`: it ends so without Adyen. */
async function store(
  context: Context,
  query: Query,
  intent: Intent,
  { ending, ...state }: Partial<State> & { readonly ending?: Ending | undefined },
): Promise<Stored> {
  const sentAt = context.now();
  const dueAt = ending ? null : new Date(sentAt.getTime() + SENT_AGAIN_MS);
  const stored = await ENTRIES.store(query, intent, { sentAt, dueAt, ...state });
  if (!stored.fresh || !ending) return stored;
  return { entry: await settle(context, query, stored.entry, ending), fresh: true };
}

async function finish(context: Context, stored: Stored): Promise<ResultInit> {
  if (stored.refused) return stored.refused;
  const { entry, fresh } = stored;
  const isAtWork = entry.answer === Answer.UNSPECIFIED || (isStepUp(entry) && !fresh);
  const ended = isAtWork ? await advance(context, entry.requestId, { fresh }) : entry;
  return resultOf(context, ended);
}
