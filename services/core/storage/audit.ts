import { v7 as uuidv7 } from 'uuid';
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
    const entry = [uuidv7(), at, action, target, detail ? JSON.stringify(detail) : null];
    if (answer !== false) await query(WRITE_ENTRY, entry);
    return answer;
  });
}

const WRITE_ENTRY: Statement = {
  name: 'write-audit-entry',
  text: `insert into audit_entry (id, at, actor, action, target, detail) values ($1, $2, 'operator', $3, $4, $5)`,
};
