import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { OperationalType } from '../../domain/notification-types.ts';
import { byIndex } from '../by-index.ts';
import { type Query, sql } from '../database.ts';
import type { EndpointId } from '../delivery/delivery-row.ts';

/** An endpoint that has failed or was paused. Endpoints that never failed have no row. */
export const EndpointEntity = defineEntity({
  name: 'Endpoint',
  tableName: 'endpoint',
  properties: {
    merchantId: p.text().primary(),
    endpointId: p.text().name('kind').primary().$type<EndpointId>(),
    /** Why it is paused: it answered 410, an operator paused it, or the breaker opened. */
    pause: p.text().nullable().$type<'GONE' | 'OPERATOR' | 'BREAKER'>(),
    /** When a pause of the breaker ends. An operator ends the other pauses. */
    pausedUntil: p.datetime(3).nullable(),
    /** Failures since the last success that pause it, in the end. */
    failureCount: p.integer(),
    /** Answers since the last success that refuse the one notification: neither 2xx nor a failure that pauses it. */
    refusedCount: p.integer().default(0),
    /** When the first attempt since the last success was recorded that got no 2xx. */
    failingSince: p.datetime(3).nullable(),
    /** Pauses of the breaker since the last success. */
    pauseCount: p.integer(),
    /** The newest failure since the last success; null = none, or not known. */
    lastError: p.text().nullable(),
    /** What its owner was told since the last success; null = nothing. */
    told: p.array().columnType('text[]').nullable().$type<OperationalType[]>(),
    changedAt: p.datetime(3),
  },
});
export type EndpointRow = InferEntity<typeof EndpointEntity>;

/** The state of an endpoint. */
export interface EndpointState
  extends Readonly<Pick<EndpointRow, 'pause' | 'failureCount' | 'refusedCount' | 'pauseCount'>> {
  readonly pausedUntil: Date | null;
  readonly failingSince: Date | null;
  readonly lastError: string | null;
  readonly told: readonly OperationalType[];
}

/** The state of an endpoint that never failed. */
export const FRESH: EndpointState = {
  pause: null,
  pausedUntil: null,
  failureCount: 0,
  refusedCount: 0,
  failingSince: null,
  pauseCount: 0,
  lastError: null,
  told: [],
};

/** Returns whether its last attempts got no 2xx, it is paused, or its owner was told so: a success changes that. */
export function isTroubled({ pause, failureCount, refusedCount, told }: EndpointState): boolean {
  return pause !== null || failureCount > 0 || refusedCount > 0 || told.length > 0;
}

/** Identifies an endpoint. */
export type EndpointKey = Readonly<Pick<EndpointRow, 'merchantId' | 'endpointId'>>;

/** Returns whether a text can be the id of an endpoint. */
export function isEndpointId(text: string): text is EndpointId {
  return /^(webhook|internal)(-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/.test(text);
}

/** The text that names an endpoint. */
export function endpointName({ merchantId, endpointId }: EndpointKey): string {
  return `${merchantId}/${endpointId}`;
}

/** The endpoint that a text names. */
export function endpointOf(name: string): EndpointKey | undefined {
  const [, merchantId, id = ''] = /^([A-Za-z][A-Za-z0-9_-]{0,31})\/(.*)$/.exec(name) ?? [];
  return merchantId === undefined || !isEndpointId(id) ? undefined : { merchantId, endpointId: id };
}

/** Returns whether a merchant has this further endpoint. */
export async function isEndpoint(query: Query, { merchantId, endpointId }: EndpointKey): Promise<boolean> {
  return (await query(IS_ENDPOINT, [merchantId, endpointId])).length === 1;
}

const IS_ENDPOINT = sql('is-endpoint')`select from webhook_endpoint where merchant_id = $1 and id = $2`;

/** Reads endpoints, each with its address (null = it has none), and locks their rows; one without a row gets one. */
export async function lockEndpoints(query: Query, endpoints: readonly EndpointKey[], now: Date) {
  const keys = JSON.stringify(endpoints);
  await query(ADD_ENDPOINTS, [keys, now]);
  const rows = await query<EndpointKey & EndpointState & { url: string | null }>(LOCK_ENDPOINTS, [keys]);
  return rows.map(({ merchantId, endpointId, url, ...state }) => ({
    endpoint: { merchantId, endpointId },
    url,
    state,
  }));
}

/** Writes the states of endpoints. The transaction must hold the locks of lockEndpoints(). */
export async function writeEndpoints(
  query: Query,
  endpoints: readonly (EndpointKey & EndpointState)[],
  now: Date,
): Promise<void> {
  await query(WRITE_ENDPOINTS, [JSON.stringify(endpoints), now]);
}

/** SQL: the address of the endpoint `id` of a merchant `m`; null = it has no such endpoint. */
export function urlOf(m: string, id: string): string {
  return `case ${id} when 'webhook' then ${m}.webhook_url when 'internal' then ${m}.internal_url else (
        select w.url from webhook_endpoint w where w.merchant_id = ${m}.id and w.id = ${id}) end`;
}

const OF_INPUT = `${byIndex('e.merchant_id', 'i."merchantId"')} and ${byIndex('e.kind', 'i."endpointId"')}`;

/** In the order of names, as the locks, so that concurrent transactions do not wait for each other. */
const ADD_ENDPOINTS = sql('add-endpoints')`
    insert into endpoint (merchant_id, kind, failure_count, pause_count, changed_at)
    select "merchantId", "endpointId", 0, 0, $2
    from json_to_recordset($1::json) as i("merchantId" text, "endpointId" text)
    order by "merchantId", "endpointId" on conflict do nothing`;

const LOCK_ENDPOINTS = sql('lock-endpoints')`
    select e.merchant_id, e.kind as endpoint_id, e.pause, e.paused_until, e.failure_count, e.refused_count,
      e.failing_since, e.pause_count, e.last_error, coalesce(e.told, '{}') as told,
      ${urlOf('m', 'e.kind')} as url
    from json_to_recordset($1::json) as i("merchantId" text, "endpointId" text)
    join endpoint e on ${OF_INPUT}
    left join merchant m on ${byIndex('m.id', 'e.merchant_id')}
    order by e.merchant_id, e.kind for update of e`;

const WRITE_ENDPOINTS = sql('write-endpoints')`update endpoint e
    set pause = i.pause, paused_until = i."pausedUntil", failure_count = i."failureCount",
      refused_count = i."refusedCount", failing_since = i."failingSince", pause_count = i."pauseCount",
      last_error = i."lastError", told = nullif(i.told, '{}'), changed_at = $2
    from json_to_recordset($1::json) as i("merchantId" text, "endpointId" text, pause text, "pausedUntil" timestamptz,
      "failureCount" int, "refusedCount" int, "failingSince" timestamptz, "pauseCount" int, "lastError" text, told text[])
    where ${OF_INPUT}`;
