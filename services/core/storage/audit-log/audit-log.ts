import { defineEntity, type FilterQuery, type InferEntity, p } from '@mikro-orm/core';
import { v7 as uuidv7 } from 'uuid';
import type { Database, Query, Statement } from '../database.ts';
import { idBounds } from '../id-bounds.ts';
import { entityManager } from '../orm.ts';
import { type Slice, scanPage } from '../scan-page.ts';
import { actorOfCall } from './actor.ts';

/** An action of an operator. */
export const AuditEntryEntity = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entry',
  properties: {
    id: p.uuid().primary(),
    at: p.datetime(3),
    actor: p.text(),
    action: p.text(),
    target: p.text(),
    detail: p.json().nullable().$type<Record<string, unknown>>(),
  },
  indexes: [
    { name: 'audit_entry_by_target', properties: ['target', 'id'] },
    { name: 'audit_entry_by_actor', properties: ['actor', 'id'] },
  ],
});
export type AuditEntryRow = InferEntity<typeof AuditEntryEntity>;

/** An operator's action. */
export interface AuditedAction {
  readonly at: Date;
  readonly action: string;
  /** What the action changes. */
  readonly target: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/**
 * Runs an action and writes its audit entry, in one transaction. An action that returns false or 0 changed nothing, and
 * gets no entry.
 */
export async function audited<T>(
  database: Database,
  { at, action, target, detail }: AuditedAction,
  act: (query: Query) => Promise<T>,
): Promise<T> {
  return database.transaction(async (query) => {
    const answer = await act(query);
    if (answer !== false && answer !== 0) await writeEntry(query, { at, action, target, detail: detail ?? null });
    return answer;
  });
}

/**
 * Writes the entry before the action, and returns its id. For actions that call a processor and so cannot be one
 * transaction: the entry survives a crash.
 */
export async function auditStart(query: Query, { at, action, target, detail }: AuditedAction): Promise<string> {
  return writeEntry(query, { at, action, target, detail: { ...detail, result: 'STARTED' } });
}

/** Adds the result of the action to its entry. */
export async function auditEnd(query: Query, id: string, end: Readonly<Record<string, unknown>>): Promise<void> {
  await query(END_ENTRY, [id, JSON.stringify(end)]);
}

/** The same for many actions, in one statement. Returns their ids in their order. */
export async function auditStarts(query: Query, actions: readonly AuditedAction[]): Promise<string[]> {
  const rows = actions.map(({ at, action, target, detail }) => {
    return { id: uuidv7(), at, actor: actorOfCall(), action, target, detail: { ...detail, result: 'STARTED' } };
  });
  if (rows.length > 0) await query(WRITE_ENTRIES, [JSON.stringify(rows)]);
  return rows.map(({ id }) => id);
}

/** Adds the results of many actions to their entries, in one statement. */
export async function auditEnds(
  query: Query,
  ends: readonly { readonly id: string; readonly end: object }[],
): Promise<void> {
  if (ends.length > 0) await query(END_ENTRIES, [JSON.stringify(ends)]);
}

const WRITE_ENTRIES: Statement = {
  name: 'write-audit-entries',
  text: `insert into audit_entry (id, at, actor, action, target, detail)
    select id, at, actor, action, target, detail
    from json_to_recordset($1::json) as i(id uuid, at timestamptz, actor text, action text, target text, detail jsonb)`,
};

const END_ENTRIES: Statement = {
  name: 'end-audit-entries',
  text: `update audit_entry a set detail = coalesce(a.detail, '{}') || i.end
    from json_to_recordset($1::json) as i(id uuid, "end" jsonb) where a.id = i.id`,
};

/** Which entries to list; all of what is given must be true. */
export interface AuditFilter {
  readonly target?: string;
  readonly action?: string;
  readonly actor?: string;
  /** Written at or after this. */
  readonly atFrom?: Date;
  /** Written before this. */
  readonly atTo?: Date;
}

/**
 * Lists entries, newest first, those before the id `after`; undefined = from the newest. Indexes have those about a
 * target, and those by an actor.
 */
export function listAuditEntries(
  database: Database,
  { atFrom, atTo, target, actor, ...same }: AuditFilter,
  after: string | undefined,
  limit: number,
): Promise<Slice<AuditEntryRow>> {
  const { lowest, highest } = idBounds(atFrom, atTo);
  const indexed: FilterQuery<AuditEntryRow>[] = [{ id: { $gte: lowest, $lte: highest } }];
  const compared: FilterQuery<AuditEntryRow>[] = [];
  if (target !== undefined) indexed.push({ target });
  if (actor !== undefined) (target === undefined ? indexed : compared).push({ actor });
  if (after !== undefined) indexed.push({ id: { $lt: after } });
  if (Object.keys(same).length > 0) compared.push(same);
  if (atFrom) compared.push({ at: { $gte: atFrom } });
  if (atTo) compared.push({ at: { $lt: atTo } });
  const scan = { entity: AuditEntryEntity, key: 'id', indexed, compared, limit } as const;
  return scanPage<AuditEntryRow>(entityManager(database), scan);
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
