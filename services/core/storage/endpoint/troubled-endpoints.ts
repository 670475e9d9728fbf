import { byIndex } from '../by-index.ts';
import { type Query, sql } from '../database.ts';
import { type EndpointKey, type EndpointState, endpointName, endpointOf } from './endpoint-row.ts';

/** An endpoint that has failed or is paused, and its deliveries that are not delivered. */
export interface TroubledEndpoint extends EndpointKey, EndpointState {
  readonly changedAt: Date;
  /** Counted up to MOST_COUNTED. */
  readonly waitingCount: number;
  readonly deadCount: number;
}

/** Where an endpoint stands in the list. */
export type TroublePlace = EndpointKey & Pick<EndpointState, 'failingSince'>;

/** A backlog of millions is as bad as one of this. */
const MOST_COUNTED = 1_000;

/** Lists endpoints that have failed or are paused, the one that has failed longest first, those after `after`. */
export function listTroubledEndpoints(
  query: Query,
  merchantId: string | undefined,
  after: TroublePlace | undefined,
  limit: number,
): Promise<TroubledEndpoint[]> {
  const place = [after?.failingSince ?? null, after?.merchantId ?? null, after?.endpointId ?? null];
  return query(LIST_TROUBLED, [merchantId ?? null, ...place, limit]);
}

/** The text that names a place in the list. */
export function nameOfPlace({ failingSince, ...endpoint }: TroublePlace): string {
  return `${failingSince?.toISOString() ?? ''} ${endpointName(endpoint)}`;
}

/** The place that a text names; undefined = it names none. */
export function placeOf(text: string): TroublePlace | undefined {
  const [since = '', name = ''] = text.split(' ');
  const endpoint = endpointOf(name);
  if (!endpoint) return undefined;
  const failingSince = since === '' ? null : new Date(since);
  return failingSince && Number.isNaN(failingSince.getTime()) ? undefined : { ...endpoint, failingSince };
}

/** SQL: where the endpoint `e` stands. One that is only paused has not failed. */
const PLACE = `coalesce(e.failing_since, 'infinity'), e.merchant_id, e.kind`;

/** SQL: the number of deliveries to `e` that meet a condition. Both conditions are those of indexes. */
const counted = (condition: string) => `(select count(*)::int from (select from delivery d
      where ${byIndex('d.merchant_id', 'e.merchant_id')} and ${byIndex('d.endpoint_kind', 'e.kind')} and ${condition}
      limit ${MOST_COUNTED}) counted)`;

const LIST_TROUBLED = sql('list-troubled-endpoints')`with listed as materialized (
    select e.* from endpoint e
    where ($1::text is null or e.merchant_id = $1)
      and (e.failure_count > 0 or e.refused_count > 0 or e.pause is not null)
      and ($3::text is null or (${PLACE}) > (coalesce($2::timestamptz, 'infinity'), $3, $4))
    order by ${PLACE} limit $5
  )
  select e.merchant_id, e.kind as endpoint_id, e.pause, e.paused_until, e.failure_count, e.refused_count,
    e.failing_since, e.pause_count, e.last_error, coalesce(e.told, '{}') as told, e.changed_at,
    ${counted('d.due_at is not null')} as waiting_count,
    ${counted(`d.due_at is null and d.state <> 'DELIVERED'`)} as dead_count
  from listed e order by ${PLACE}`;
