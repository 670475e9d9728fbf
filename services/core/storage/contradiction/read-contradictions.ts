import type { ContradictionKind, Told } from '../../domain/contradiction.ts';
import { type Query, sql } from '../database.ts';

/** A contradiction as it is kept. Amounts are minor units. */
export interface ContradictionRow {
  readonly id: string;
  readonly at: Date;
  readonly merchantId: string | null;
  readonly requestId: string;
  readonly holdRequestId: string | null;
  readonly kind: ContradictionKind;
  readonly source: Told['source'];
  readonly processor: string;
  readonly eventId: string | null;
  readonly told: string;
  readonly kept: string;
  readonly toldAmount: bigint | null;
  readonly keptAmount: bigint | null;
  readonly currency: string | null;
  readonly reference: string | null;
  readonly resolvedAt: Date | null;
  readonly resolvedBy: string | null;
  readonly resolution: string | null;
}

/** Lists the contradictions of an operation or a hold, newest first, those before an id (undefined = all). */
export function listContradictions(
  query: Query,
  requestId: string,
  before: string | undefined,
  limit: number,
): Promise<ContradictionRow[]> {
  return query<ContradictionRow>(LIST, [requestId, before, limit]);
}

const LIST = sql('list-contradictions')`select * from (
      select * from contradiction where request_id = $1
      union
      select * from contradiction where hold_request_id = $1) c
    where $2::uuid is null or id < $2 order by id desc limit $3`;

/** Finds the open contradictions of operations and holds, each with the one asked about, newest first. */
export function findOpenAbout(
  query: Query,
  requestIds: readonly string[],
): Promise<(ContradictionRow & { readonly about: string })[]> {
  if (requestIds.length === 0) return Promise.resolve([]);
  return query<ContradictionRow & { readonly about: string }>(FIND_OPEN, [requestIds]);
}

const FIND_OPEN = sql('find-open-contradictions')`select c.*, a.id as about from unnest($1::uuid[]) as a(id)
      cross join lateral (
        select * from contradiction where request_id = a.id and resolved_at is null
        union
        select * from contradiction where hold_request_id = a.id and resolved_at is null) c
    order by c.id desc`;

/** Returns whether a contradiction of this identifier is open, and its frozen hold, if any. */
export async function findOpen(query: Query, requestId: string) {
  const [row] = await query<{ frozenHold: string | null }>(IS_OPEN, [requestId]);
  return row;
}

const IS_OPEN = sql('is-contradiction-open')`select h.request_id as frozen_hold from contradiction c
      left join hold h on h.request_id = c.hold_request_id and h.frozen
    where c.request_id = $1 and c.resolved_at is null order by h.request_id nulls last limit 1`;

/** SQL: a contradiction `o` says that an operation which was told KO came back, or was given again. */
export function isTakenBack(o: string): string {
  return `(${o}.kind = 'RESULT' and ${o}.told in ('REVERSED', 'REINSTATED', 'RETURNED'))`;
}

/** Finds open contradictions by which an operation that was told KO came back, oldest first. */
export function findTakenBack(query: Query, requestId: string): Promise<ContradictionRow[]> {
  return query<ContradictionRow>(FIND_TAKEN_BACK, [requestId]);
}

const FIND_TAKEN_BACK = sql('find-taken-back')`select * from contradiction o
    where request_id = $1 and resolved_at is null and ${isTakenBack('o')} order by id`;
