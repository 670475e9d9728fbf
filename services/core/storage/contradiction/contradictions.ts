import { drawId } from '../../../../platform/draw-id.ts';
import type { Contradiction, Told } from '../../domain/contradiction.ts';
import { type Query, sql } from '../database.ts';

/** The subject of a contradiction. */
export interface About {
  readonly requestId: string;
  /** The hold that it belongs to; of a hold itself, its own requestId; null or absent = none. */
  readonly holdRequestId?: string | null | undefined;
  /** Null = nothing here has the identifier that the processor names. */
  readonly merchantId: string | null;
  readonly processor: string;
  readonly currency?: string | undefined;
}

/** A contradiction as statements take it. Times are RFC 3339, money is minor units, as text. */
export interface ContradictionInput extends Omit<About & Contradiction, 'toldAmount' | 'keptAmount'> {
  readonly id: string;
  readonly at: string;
  readonly name: string;
  readonly source: Told['source'];
  readonly eventId?: string | undefined;
  readonly toldAmount?: string | undefined;
  readonly keptAmount?: string | undefined;
}

/**
 * Returns the row of a contradiction. Its name is the same each time it is reported, in whatever way, so it is kept
 * once while it is open. A refused event is reported once, by its event_id.
 */
export function contradictionRow(about: About, said: Contradiction, told: Told, at: Date): ContradictionInput {
  const { kind, toldAmount, keptAmount, reference = '' } = said;
  const isAboutEvent = kind === 'EVENT_REFUSED' || kind === 'EVENT_ID_REUSED';
  const facts = isAboutEvent ? [kind, told.eventId] : [kind, said.told, toldAmount, reference];
  return {
    ...about,
    ...said,
    ...told,
    id: drawId(),
    at: at.toISOString(),
    name: facts.join('/'),
    toldAmount: toldAmount?.toString(),
    keptAmount: keptAmount?.toString(),
  };
}

/** SQL: the columns of a contradiction in the input of a statement. */
const INPUT = `id uuid, at timestamptz, "merchantId" text, "requestId" uuid, "holdRequestId" uuid, name text, kind text,
      source text, processor text, "eventId" text, told text, kept text, "toldAmount" bigint, "keptAmount" bigint,
      currency text, reference text, freezes text`;

/** SQL: inserts contradictions, each of which is a JSON value, that `from` selects as `contradiction`. */
export const insertContradictions = (from: string) => `insert into contradiction (id, at, merchant_id, request_id,
      hold_request_id, name, kind, source, processor, event_id, told, kept, told_amount, kept_amount, currency, reference)
    select c.id, c.at, c."merchantId", c."requestId", c."holdRequestId", c.name, c.kind, c.source, c.processor,
      c."eventId", c.told, c.kept, c."toldAmount", c."keptAmount", c.currency, nullif(c.reference, '')
    from ${from} f cross join lateral json_to_record(f.contradiction) as c(${INPUT})
    where f.contradiction is not null
    on conflict (request_id, name) where resolved_at is null do nothing`;

/** SQL: why a hold `h` is frozen once there is another reason. A doubt about the remaining amount takes precedence. */
export const becauseAlso = (reason: string) =>
  `case when h.frozen_because = 'UNKNOWN_CHARGE' or ${reason} is null then h.frozen_because else ${reason} end`;

/**
 * Stores a contradiction, unless it is stored and open, and freezes its hold when it says so: then captures, releases
 * and refunds are rejected until an operator has resolved it.
 */
export async function storeContradiction(query: Query, row: ContradictionInput): Promise<void> {
  await query(STORE, [JSON.stringify(row)]);
}

const STORE = sql('store-contradiction')`with input as (select $1::json as contradiction),
  told as (${insertContradictions('input')})
  update hold h set frozen = true, frozen_because = ${becauseAlso(`(i.contradiction->>'freezes')`)}
    from input i
    where h.request_id = (i.contradiction->>'holdRequestId')::uuid and i.contradiction->>'freezes' is not null`;

/** How, and by whom, contradictions were resolved. */
export interface Resolution {
  readonly at: Date;
  readonly by: string;
  readonly how: string;
}

/** Lets what remains of a hold be captured or released again, and resolves the contradictions that are open about it. */
export async function unfreezeHold(query: Query, requestId: string, { at, by, how }: Resolution): Promise<void> {
  await query(UNFREEZE, [requestId, at, by, how]);
}

const RESOLVED = 'resolved_at = $2, resolved_by = $3, resolution = $4';

const UNFREEZE = sql('unfreeze-hold')`with resolved as (
    update contradiction set ${RESOLVED} where hold_request_id = $1 and resolved_at is null
  )
  update hold set frozen = false, frozen_because = null where request_id = $1`;

/** Resolves the open contradictions of an operation itself; its hold is not changed. Returns how many there were. */
export async function acknowledge(query: Query, requestId: string, { at, by, how }: Resolution): Promise<number> {
  return (await query(ACKNOWLEDGE, [requestId, at, by, how])).length;
}

const ACKNOWLEDGE = sql('acknowledge-contradictions')`update contradiction c set ${RESOLVED}
    where request_id = $1 and resolved_at is null
      and not exists (select from hold h where h.request_id = c.hold_request_id and h.frozen)
    returning id`;

/**
 * Resolves contradictions that an import explains: a capture by somebody else, which is booked now; an amount missing
 * from what was given back, when nothing remains; and an end whose amount equals what remains or was given back. A hold
 * without open contradictions is no longer frozen.
 */
export async function resolveImported(
  query: Query,
  { holdRequestId, identifier }: { readonly holdRequestId: string; readonly identifier: string },
  { at, by, how }: Resolution,
): Promise<void> {
  await query(RESOLVE_IMPORTED, [holdRequestId, at, by, how, identifier]);
}

const RESOLVE_IMPORTED = sql('resolve-imported')`with explained as (
    update contradiction c set ${RESOLVED} from hold h
    where h.request_id = $1 and c.hold_request_id = h.request_id and c.resolved_at is null
      and ((c.kind = 'FOREIGN_CAPTURE' and c.request_id = $5)
        or (c.kind = 'AMOUNT_RELEASED' and c.told_amount < c.kept_amount and h.remaining + h.in_flight = 0)
        or (c.kind = 'AMOUNT_ENDED' and (h.ended_amount between h.remaining and h.remaining + h.in_flight
          or (h.remaining + h.in_flight = 0 and h.ended_amount <= h.released))))
    returning c.id
  )
  update hold set frozen = false, frozen_because = null
    where request_id = $1 and frozen and exists (select from explained)
      and not exists (select from contradiction c where c.hold_request_id = $1 and c.resolved_at is null
        and c.id not in (select id from explained))`;
