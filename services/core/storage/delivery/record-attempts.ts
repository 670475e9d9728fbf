import { byIndex } from '../by-index.ts';
import { type Query, sql } from '../database.ts';
import type { Fault } from './delivery-row.ts';

/** The result of an attempt, and the new state of its delivery. Times are RFC 3339. */
export interface AttemptRecord {
  readonly deliveryId: string;
  /** From 1; a replay does not restart it. */
  readonly number: number;
  /** When the attempt was due. */
  readonly wasDueAt: string;
  readonly startedAt: string;
  readonly latencyMs: number;
  readonly httpStatus?: number | undefined;
  /** Absent = success. */
  readonly error?: string | undefined;
  readonly fault?: Fault | undefined;
  readonly url?: string | undefined;
  readonly responseHead?: string | undefined;
  readonly state: 'PENDING' | 'DELIVERED' | 'DEAD';
  /** When the next attempt is due; present exactly while PENDING. */
  readonly dueAt?: string | undefined;
  readonly endedAt: string;
}

/**
 * Records attempts and the new states of their deliveries. An attempt whose number is taken was made twice, because the
 * first worker seemed dead: the first record stays. Returns the deliveries that are dead now.
 */
export async function recordAttempts(query: Query, records: readonly AttemptRecord[]): Promise<ReadonlySet<string>> {
  const statement = records.some(({ state }) => state === 'DEAD') ? RECORD_DEATHS : RECORD_ATTEMPTS;
  const dead = await query<{ id: string }>(statement, [JSON.stringify(records)]);
  return new Set(dead.map(({ id }) => id));
}

/** SQL: the attempt failed, and its delivery was made due again meanwhile: then it stays due as that has set. */
const DUE_AGAIN = `i.state <> 'DELIVERED' and d.due_at <> i."wasDueAt"`;

/**
 * The update returns the rows to insert: joining them afterwards is a nested loop, which took a fifth of a batch of
 * fifty.
 */
const CHANGED = `with changed as (
    update delivery d set state = case when ${DUE_AGAIN} then d.state else i.state end, attempt_count = i.number,
      due_at = case when ${DUE_AGAIN} then d.due_at else i."dueAt" end, locked_until = null,
      delivered_at = case when i.state = 'DELIVERED' then i."endedAt" end
    from json_to_recordset($1::json) as i("deliveryId" uuid, number int, "wasDueAt" timestamptz, "startedAt" timestamptz,
      "latencyMs" int, "httpStatus" int, error text, fault text, url text, "responseHead" text, state text,
      "dueAt" timestamptz, "endedAt" timestamptz)
    where ${byIndex('d.id', 'i."deliveryId"')} and d.attempt_count = i.number - 1 and d.state = 'PENDING'
    returning d.id, i.number, d.merchant_id, i."startedAt", i."latencyMs", i."httpStatus", i.error, i.fault, i.url,
      i."responseHead", d.state
  )`;

const RECORDED = `insert into delivery_attempt (delivery_id, number, merchant_id, started_at, latency_ms, http_status, error,
      fault, url, response_head)
    select id, number, merchant_id, "startedAt", "latencyMs", "httpStatus", error, fault, url, "responseHead" from changed`;

const RECORD_ATTEMPTS = sql('record-attempts')`${CHANGED} ${RECORDED}`;

/** Reading the changed rows twice costs a batch of fifty 5 %, so only batches with a last attempt do. */
const RECORD_DEATHS = sql('record-attempts-and-deaths')`${CHANGED},
  recorded as (${RECORDED})
  select id from changed where state = 'DEAD'`;
