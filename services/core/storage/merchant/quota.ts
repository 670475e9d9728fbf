import { type Query, sql } from '../database.ts';

/** Limits for each merchant and minute. */
export const PER_MINUTE = {
  'delivery.test': 5,
  'delivery.replay': 60,
  'delivery.recover': 6,
  'webhook.change': 30,
} as const;

/** Counts an action of a merchant, in the caller's transaction. Returns false when it had its number in this minute. */
export async function takeQuota(query: Query, merchantId: string, action: keyof typeof PER_MINUTE, now: Date) {
  const windowStart = new Date(now.getTime() - (now.getTime() % 60_000));
  return (await query(TAKE_QUOTA, [merchantId, action, windowStart, PER_MINUTE[action]])).length === 1;
}

const TAKE_QUOTA = sql('take-quota')`
    insert into quota as q (merchant_id, action, window_start, used) values ($1, $2, $3, 1)
    on conflict (merchant_id, action) do update set window_start = excluded.window_start,
      used = case when q.window_start = excluded.window_start then q.used + 1 else 1 end
    where q.window_start <> excluded.window_start or q.used < $4
    returning used`;
