import type { Query } from '../../../platform/adapter/postgres/database.ts';

/** Whether Stripe has refused the card features to an account within a day; accounts may be given them later. */
export async function areFeaturesRefused(query: Query, account: string, now: Date): Promise<boolean> {
  const text = `SELECT account FROM account
    WHERE account = $1 AND features_refused_at > $2::timestamptz - interval '1 day'`;
  return (await query(text, [account, now])).length > 0;
}

/** Stores that Stripe has refused the card features to an account. */
export async function storeFeaturesRefused(query: Query, account: string, now: Date): Promise<void> {
  const text = `INSERT INTO account (account, features_refused_at) VALUES ($1, $2)
    ON CONFLICT (account) DO UPDATE SET features_refused_at = excluded.features_refused_at`;
  await query(text, [account, now]);
}
