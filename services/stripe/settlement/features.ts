import type { Query } from '../../../platform/adapter/postgres/database.ts';
import type { Context } from '../adapter-context.ts';
import { type Answered, ask, type Failure } from '../api/ask.ts';
import type { Entry } from '../ledger/entry.ts';

/** Asked for where the account and the card can; the charge says whether they could. */
const FEATURES = {
  request_multicapture: 'if_available',
  request_incremental_authorization: 'if_available',
  request_extended_authorization: 'if_available',
} as const;

/** Card options of a PaymentIntent or Checkout Session. */
export type Features = Partial<typeof FEATURES>;

/**
 * Makes a request that asks for the card features, and makes it without them, under a key of its own, where Stripe
 * refuses them to the account. Stripe's documentation has `if_available` ignored there; accounts without IC+ pricing
 * report that it is refused, for a PaymentIntent at the confirmation and for a Checkout Session at the creation,
 * without naming the parameter. That an account is refused is remembered.
 */
export async function withFeatures<T>(
  context: Context,
  { account, requestId, expectedCaptureAt, sentAt }: Entry,
  request: (features: Features, idempotencyKey: string) => Promise<T>,
): Promise<Answered<T>> {
  const { query } = context.database;
  const plain = () => ask(context, () => request({}, `${requestId}:plain`));
  if (await areFeaturesRefused(query, account, context.now())) return plain();
  const asked = await ask(context, () => request(featuresFor(expectedCaptureAt, sentAt), requestId));
  if (!isAboutFeatures(asked.failure)) return asked;
  context.log.warn('features refused', { what: account || 'own account' });
  await storeFeaturesRefused(query, account, context.now());
  return plain();
}

/**
 * Visa's period for what a merchant initiates is 5 days, less some hours: a capture within 4 needs no longer one.
 */
const SHORTEST_PERIOD_MS = 4 * 24 * 60 * 60 * 1000;

/** Follows from what is stored, because what is sent again must be the same. */
function featuresFor(expectedCaptureAt: Date | null, sentAt: Date | null): Features {
  const isSoon = expectedCaptureAt && sentAt && expectedCaptureAt.getTime() - sentAt.getTime() < SHORTEST_PERIOD_MS;
  const { request_extended_authorization: _, ...others } = FEATURES;
  return isSoon ? others : FEATURES;
}

function isAboutFeatures(failure: Failure | undefined): boolean {
  if (failure?.kind !== 'refused') return false;
  return failure.param.includes('[request_') || /not eligible for the requested card features/i.test(failure.message);
}

/** Whether Stripe has refused the card features to an account within a day; accounts may be given them later. */
export async function areFeaturesRefused(query: Query, account: string, now: Date): Promise<boolean> {
  const text = `SELECT account FROM account
    WHERE account = $1 AND features_refused_at > $2::timestamptz - interval '1 day'`;
  return (await query(text, [account, now])).length > 0;
}

/** Stores that Stripe has refused the card features to an account. */
async function storeFeaturesRefused(query: Query, account: string, now: Date): Promise<void> {
  const text = `INSERT INTO account (account, features_refused_at) VALUES ($1, $2)
    ON CONFLICT (account) DO UPDATE SET features_refused_at = excluded.features_refused_at`;
  await query(text, [account, now]);
}
