import type { Query, Statement } from '../../../platform/adapter/postgres/database.ts';

const REFUSED: Statement = {
  name: 'refused_features',
  text: `SELECT account FROM stripe.account
    WHERE account = $1 AND features_refused_at > $2::timestamptz - interval '1 day'`,
};

/** Whether Stripe has refused the card features to an account within a day; accounts may be given them later. */
export async function areFeaturesRefused(query: Query, account: string, now: Date): Promise<boolean> {
  return (await query(REFUSED, [account, now])).length > 0;
}

const REFUSE: Statement = {
  name: 'refuse_features',
  text: `INSERT INTO stripe.account (account, features_refused_at) VALUES ($1, $2)
    ON CONFLICT (account) DO UPDATE SET features_refused_at = excluded.features_refused_at`,
};

/** Stores that Stripe has refused the card features to an account. */
export async function storeFeaturesRefused(query: Query, account: string, now: Date): Promise<void> {
  await query(REFUSE, [account, now]);
}
