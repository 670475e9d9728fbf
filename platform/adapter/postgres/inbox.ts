/** What a processor announced to a ledger: each key is dealt with once, however often it comes. */
import { plainText } from '../plain-text.ts';
import type { Query } from './database.ts';

/** An announcement under its key. */
export interface Announced<Item> {
  readonly key: string;
  readonly item: Item;
}

/** Stores an announcement, its texts as plain text; false when it came before. */
export async function announce<Item extends object>(query: Query, { key, item }: Announced<Item>): Promise<boolean> {
  const text = 'INSERT INTO inbox (key, item) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING RETURNING key';
  return (await query(text, [plainText(key), JSON.stringify(item, plainValue)])).length > 0;
}

const plainValue = (_: string, value: unknown) => (typeof value === 'string' ? plainText(value) : value);

const WAIT = `least(300, 2 ^ least(attempts, 9)) * interval '1 s'`;

/** Takes what is due. It is put off meanwhile, ever longer: a crash in between deals with it again, not never. */
export function takeAnnounced<Item>(query: Query, limit: number): Promise<Announced<Item>[]> {
  const text = `UPDATE inbox SET attempts = attempts + 1, due_at = now() + ${WAIT} + interval '20 s'
    WHERE key IN (SELECT key FROM inbox WHERE done_at IS NULL AND due_at <= now()
      ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
    RETURNING key, item`;
  return query<Announced<Item>>(text, [limit]);
}

/** Says whether an announcement was dealt with; else it comes again. */
export async function settleAnnounced(query: Query, key: string, isDone: boolean): Promise<void> {
  await query(`UPDATE inbox SET ${isDone ? 'done_at = now()' : `due_at = now() + ${WAIT}`} WHERE key = $1`, [key]);
}

/** Forgets old announcements: processors repeat them for days, and can be asked to for weeks. */
export async function purgeInbox(query: Query): Promise<void> {
  await query(`DELETE FROM inbox WHERE done_at < now() - interval '40 days'`);
}
