import { v7 as uuidv7 } from 'uuid';
import { actorOfCall } from './actor.ts';
import type { Database, Query, Statement } from './database.ts';

/** What an operator does. */
export interface AuditedAction {
  readonly at: Date;
  readonly action: string;
  /** What it is done to. */
  readonly target: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/**
 * Does something and writes it into the audit log, in one transaction: neither happens without the other. An act that answers false
 * did nothing, and is not written.
 */
export async function audited<T>(
  database: Database,
  { at, action, target, detail }: AuditedAction,
  act: (query: Query) => Promise<T>,
): Promise<T> {
  return database.transaction(async (query) => {
    const answer = await act(query);
    if (answer !== false) await writeEntry(query, { at, action, target, detail: detail ?? null });
    return answer;
  });
}

/**
 * Writes what is about to be done, before it is done, and answers the entry's id: of an act that cannot be one transaction, because it
 * calls a processor, not even a crash loses the trace.
 */
export async function auditStart(query: Query, { at, action, target, detail }: AuditedAction): Promise<string> {
  return writeEntry(query, { at, action, target, detail: { ...detail, result: 'STARTED' } });
}

/** Adds how it ended. */
export async function auditEnd(query: Query, id: string, end: Readonly<Record<string, unknown>>): Promise<void> {
  await query(END_ENTRY, [id, JSON.stringify(end)]);
}

type Entry = Omit<AuditedAction, 'detail'> & { readonly detail: object | null };

async function writeEntry(query: Query, { at, action, target, detail }: Entry): Promise<string> {
  const id = uuidv7();
  await query(WRITE_ENTRY, [id, at, actorOfCall(), action, target, detail && JSON.stringify(detail)]);
  return id;
}

const WRITE_ENTRY: Statement = {
  name: 'write-audit-entry',
  text: `insert into audit_entry (id, at, actor, action, target, detail) values ($1, $2, $3, $4, $5, $6)`,
};

const END_ENTRY: Statement = {
  name: 'end-audit-entry',
  text: `update audit_entry set detail = coalesce(detail, '{}') || $2::jsonb where id = $1`,
};
