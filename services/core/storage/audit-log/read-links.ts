/** Reads the audit log in the order of its chain, which is that of commits (migration 0031). */
import { type Query, sql } from '../database.ts';
import type { AuditEntryRow } from './audit-log.ts';

/** An entry as it is now, at the place of one of its links. */
export interface LinkedEntry {
  readonly place: string;
  /** Undefined = it was removed from the database. */
  readonly entry: AuditEntryRow | undefined;
}

/** The place before the first link. */
const BEGINNING = `0:${'0'.repeat(32)}`;

/** The place of the newest link: its number, a colon, and the first half of its hash. */
export async function readNewestPlace(query: Query): Promise<string> {
  const [newest] = await query<{ place: string }>(NEWEST, []);
  return newest?.place ?? BEGINNING;
}

/** Reads the links after a place, at most `limit`; undefined = the chain does not have that place. */
export async function readLinksAfter(query: Query, place: string, limit: number): Promise<LinkedEntry[] | undefined> {
  const [number = ''] = place.split(':');
  const rows = await query<AuditEntryRow & { place: string }>(FROM, [number, limit + 1]);
  const entries = rows.map(({ place, ...entry }) => ({ place, entry: entry.id === null ? undefined : entry }));
  if (place === BEGINNING) return entries.slice(0, limit);
  return entries[0]?.place === place ? entries.slice(1) : undefined;
}

const PLACE = `l.number || ':' || left(encode(l.hash, 'hex'), 32) as place`;

const NEWEST = sql('read-newest-audit-link')`select ${PLACE} from audit_link l order by number desc limit 1`;

const FROM = sql('read-audit-links')`select ${PLACE}, e.*
    from audit_link l left join audit_entry e on e.id = l.entry_id
    where l.number >= $1::bigint order by l.number limit $2`;
