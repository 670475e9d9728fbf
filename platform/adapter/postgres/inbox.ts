import type { Query, Statement } from './database.ts';

/** The table of what a processor announced to a ledger: each key is dealt with once, however often it comes. */
export function inboxTable(schema: string): string {
  return `
CREATE TABLE ${schema}.inbox (
  key text PRIMARY KEY,
  item jsonb NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  done_at timestamptz
);
CREATE INDEX inbox_due ON ${schema}.inbox (due_at) WHERE done_at IS NULL;
`;
}

/** An announcement under its key. */
export interface Announced<Item> {
  readonly key: string;
  readonly item: Item;
}

/** The inbox of a ledger. */
export function openInbox<Item extends object>(schema: string) {
  const insert: Statement = {
    name: 'insert_announcement',
    text: `INSERT INTO ${schema}.inbox (key, item) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING RETURNING key`,
  };
  const waitS = 'least(300, 2 ^ least(attempts, 9))';
  const take: Statement = {
    name: 'take_due_announcements',
    text: `UPDATE ${schema}.inbox SET attempts = attempts + 1,
      due_at = now() + ${waitS} * interval '1 s' + interval '20 s'
      WHERE key IN (SELECT key FROM ${schema}.inbox WHERE done_at IS NULL AND due_at <= now()
        ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
      RETURNING key, item`,
  };
  const retry: Statement = {
    name: 'retry_announcement',
    text: `UPDATE ${schema}.inbox SET due_at = now() + ${waitS} * interval '1 s' WHERE key = $1`,
  };
  const done: Statement = {
    name: 'finish_announcement',
    text: `UPDATE ${schema}.inbox SET done_at = now() WHERE key = $1`,
  };
  const purge: Statement = {
    name: 'purge_announcements',
    text: `DELETE FROM ${schema}.inbox WHERE done_at < now() - interval '40 days'`,
  };
  return {
    /** Stores an announcement; false when it came before. */
    async insert(query: Query, { key, item }: Announced<Item>): Promise<boolean> {
      return (await query(insert, [key, JSON.stringify(item)])).length > 0;
    },
    /** Takes what is due. It is put off meanwhile, ever longer: a crash in between deals with it again, not never. */
    takeDue: (query: Query, limit: number) => query<Announced<Item>>(take, [limit]),
    /** Says whether an announcement was dealt with; else it comes again. */
    async settle(query: Query, key: string, isDone: boolean): Promise<void> {
      await query(isDone ? done : retry, [key]);
    },
    /** Forgets old announcements: processors repeat them for days, and can be asked to for weeks. */
    async purge(query: Query): Promise<void> {
      await query(purge, []);
    },
  };
}
