import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { type OrmDatabase, type Query, readRow, sql } from '../database.ts';
import type { EndpointKind } from '../delivery/delivery-row.ts';
import { entityManager } from '../orm.ts';

/** An endpoint that has failed or was paused; one that never failed has no row. */
export const EndpointEntity = defineEntity({
  name: 'Endpoint',
  tableName: 'endpoint',
  properties: {
    merchantId: p.text().primary(),
    kind: p.text().primary().$type<EndpointKind>(),
    /** Why it is paused: it answered 410, an operator paused it, or the breaker opened. */
    pause: p.text().nullable().$type<'GONE' | 'OPERATOR' | 'BREAKER'>(),
    /** When a pause of the breaker ends. An operator ends the other pauses. */
    pausedUntil: p.datetime(3).nullable(),
    /** Failures since the last success. */
    failureCount: p.integer(),
    /** Pauses of the breaker since the last success. */
    pauseCount: p.integer(),
    changedAt: p.datetime(3),
  },
});
export type EndpointRow = InferEntity<typeof EndpointEntity>;

/** The state of an endpoint. */
export interface EndpointState extends Readonly<Pick<EndpointRow, 'pause' | 'failureCount' | 'pauseCount'>> {
  readonly pausedUntil: Date | null;
}

/** The state of an endpoint that never failed. */
export const FRESH: EndpointState = { pause: null, pausedUntil: null, failureCount: 0, pauseCount: 0 };

/** Identifies an endpoint. */
export type EndpointKey = Readonly<Pick<EndpointRow, 'merchantId' | 'kind'>>;

/** The text that names an endpoint. */
export function endpointName({ merchantId, kind }: EndpointKey): string {
  return `${merchantId}/${kind}`;
}

/** The endpoint that a text names. */
export function endpointOf(name: string): EndpointKey | undefined {
  const [, merchantId, kind] = /^([A-Za-z][A-Za-z0-9_-]{0,31})\/(webhook|internal)$/.exec(name) ?? [];
  return merchantId === undefined ? undefined : { merchantId, kind: kind as EndpointKind };
}

/** Lists endpoints that have failed or are paused, in the order of merchant and kind, those after `after`. */
export function listTroubledEndpoints(
  database: OrmDatabase,
  merchantId: string | undefined,
  after: EndpointKey | undefined,
  limit: number,
): Promise<EndpointRow[]> {
  const beyond = after && {
    $or: [{ merchantId: { $gt: after.merchantId } }, { merchantId: after.merchantId, kind: { $gt: after.kind } }],
  };
  const troubled = { $or: [{ failureCount: { $gt: 0 } }, { pause: { $ne: null } }] };
  const where = { $and: [merchantId === undefined ? {} : { merchantId }, { ...beyond }, troubled] };
  return entityManager(database).find(EndpointEntity, where, { orderBy: { merchantId: 'asc', kind: 'asc' }, limit });
}

/** Reads an endpoint's state and locks its row; an endpoint without a row gets one. */
export async function lockEndpoint(query: Query, { merchantId, kind }: EndpointKey, now: Date): Promise<EndpointState> {
  await query(ADD_ENDPOINT, [merchantId, kind, now]);
  return (await readRow<EndpointState>(query, LOCK_ENDPOINT, [merchantId, kind])) ?? FRESH;
}

/** Writes an endpoint's state. The transaction must hold the lock of lockEndpoint(). */
export async function writeEndpoint(
  query: Query,
  { merchantId, kind }: EndpointKey,
  state: EndpointState,
  now: Date,
): Promise<void> {
  const { pause, pausedUntil, failureCount, pauseCount } = state;
  await query(WRITE_ENDPOINT, [merchantId, kind, pause, pausedUntil, failureCount, pauseCount, now]);
}

const ADD_ENDPOINT = sql('add-endpoint')`
    insert into endpoint (merchant_id, kind, failure_count, pause_count, changed_at) values ($1, $2, 0, 0, $3)
    on conflict do nothing`;

const LOCK_ENDPOINT = sql('lock-endpoint')`select pause, paused_until, failure_count, pause_count from endpoint
    where merchant_id = $1 and kind = $2 for update`;

const WRITE_ENDPOINT = sql('write-endpoint')`update endpoint
    set pause = $3, paused_until = $4, failure_count = $5, pause_count = $6, changed_at = $7
    where merchant_id = $1 and kind = $2`;
