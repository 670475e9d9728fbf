import { defineEntity, type FilterQuery, type InferEntity, p } from '@mikro-orm/core';
import { drawId } from '../../../../platform/draw-id.ts';
import { type Database, type OrmDatabase, type Query, sql } from '../database.ts';
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
    /** The changed thing. */
    target: p.text(),
    detail: p.json().nullable().$type<Record<string, unknown>>(),
  },
});
export type AuditEntryRow = InferEntity<typeof AuditEntryEntity>;

/** An operator's action. */
export interface AuditedAction extends Readonly<Pick<AuditEntryRow, 'at' | 'action' | 'target'>> {
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Runs an action with its audit entry, in one transaction. One that returns false or 0 changed nothing: no entry. */
export async function audited<T>(
  database: Database,
  action: AuditedAction,
  act: (query: Query) => Promise<T>,
): Promise<T> {
  return database.transaction(async (query) => {
    const answer = await act(query);
    if (answer !== false && answer !== 0) await writeEntries(query, [action]);
    return answer;
  });
}

/**
 * Writes the entries of actions before they are done, and returns their ids in their order. For actions that call a
 * processor and so cannot be one transaction: the entry survives a crash.
 */
export function auditStarts(query: Query, actions: readonly AuditedAction[]): Promise<string[]> {
  const started = actions.map((action) => ({ ...action, detail: { ...action.detail, result: 'STARTED' } }));
  return writeEntries(query, started);
}

/** Adds the results of actions to their entries. */
export async function auditEnds(
  query: Query,
  ends: readonly { readonly id: string; readonly end: object }[],
): Promise<void> {
  if (ends.length > 0) await query(END_ENTRIES, [JSON.stringify(ends)]);
}

async function writeEntries(query: Query, actions: readonly AuditedAction[]): Promise<string[]> {
  const entries = actions.map((action) => ({ ...action, id: drawId(), actor: actorOfCall() }));
  if (entries.length > 0) await query(WRITE_ENTRIES, [JSON.stringify(entries)]);
  return entries.map(({ id }) => id);
}

const WRITE_ENTRIES = sql('write-audit-entries')`insert into audit_entry (id, at, actor, action, target, detail)
    select id, at, actor, action, target, detail
    from json_to_recordset($1::json) as i(id uuid, at timestamptz, actor text, action text, target text, detail jsonb)`;

const END_ENTRIES = sql('end-audit-entries')`update audit_entry a set detail = coalesce(a.detail, '{}') || i.end
    from json_to_recordset($1::json) as i(id uuid, "end" jsonb) where a.id = i.id`;

/** Selects entries; all conditions given must hold. */
export type AuditFilter = Partial<Pick<AuditEntryRow, 'target' | 'action' | 'actor'>> & {
  readonly atFrom?: Date;
  readonly atTo?: Date;
};

/** Lists entries, newest first, those before the id `after`. Indexes have those about a target, and by an actor. */
export function listAuditEntries(
  database: OrmDatabase,
  { atFrom, atTo, target, actor, ...same }: AuditFilter,
  after: string | undefined,
  limit: number,
): Promise<Slice<AuditEntryRow>> {
  const { lowest, highest } = idBounds(atFrom, atTo);
  const indexed: FilterQuery<AuditEntryRow>[] = [{ id: { $gte: lowest, $lte: highest } }];
  const compared: FilterQuery<AuditEntryRow>[] = [];
  if (target !== undefined) indexed.push({ target });
  const ofActor = target === undefined ? indexed : compared;
  if (actor !== undefined) ofActor.push({ actor });
  if (after !== undefined) indexed.push({ id: { $lt: after } });
  if (Object.keys(same).length > 0) compared.push(same);
  if (atFrom) compared.push({ at: { $gte: atFrom } });
  if (atTo) compared.push({ at: { $lt: atTo } });
  const scan = { entity: AuditEntryEntity, key: 'id', indexed, compared, limit } as const;
  return scanPage<AuditEntryRow>(entityManager(database), scan);
}
