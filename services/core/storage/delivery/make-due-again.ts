import { byIndex } from '../by-index.ts';
import { type Query, sql } from '../database.ts';
import type { EndpointKey } from '../endpoint/endpoint-row.ts';
import { idBounds } from '../id-bounds.ts';
import type { EndpointId, EndpointPurpose } from './delivery-row.ts';

/** One endpoint, or all of a purpose. */
export type EndpointChoice = { readonly endpointId: EndpointId } | { readonly purpose: EndpointPurpose };

/** The deliveries to send again. */
export interface ReplayRange {
  readonly merchantId: string;
  /** Null = all of them. */
  readonly endpoint: EndpointChoice | null;
  readonly state: 'DEAD' | 'DELIVERED';
  /** Null = no bound. */
  readonly createdFrom: Date | null;
  readonly createdTo: Date | null;
  readonly maxCount: number;
  readonly perSecond: number;
}

/** A delivery with so many attempts cannot be replayed, which bounds the rows kept for it. */
export const MAX_ATTEMPTS = 200;

/**
 * Makes one delivery due now, with a new schedule. Returns its endpoint, or undefined when it does not exist, is purged,
 * or had MAX_ATTEMPTS.
 */
export async function replayOne(query: Query, id: string, now: Date): Promise<EndpointKey | undefined> {
  return (await query<EndpointKey>(REPLAY_ONE, [id, now]))[0];
}

/** Makes ended deliveries due again, oldest first, `perSecond` each second. Returns the endpoint of each. */
export async function replayRange(query: Query, range: ReplayRange, now: Date): Promise<EndpointKey[]> {
  const { merchantId, endpoint, state, createdFrom, createdTo, maxCount, perSecond } = range;
  const { lowest, highest } = idBounds(createdFrom ?? undefined, createdTo ?? undefined);
  return query<EndpointKey>(REPLAY_RANGE, [
    merchantId,
    patternOf(endpoint),
    state,
    createdFrom,
    createdTo,
    maxCount,
    now,
    1 / perSecond,
    lowest,
    highest,
  ]);
}

/** The undelivered deliveries to make due now. */
export interface RecoverRange {
  /** Null = all merchants'. */
  readonly merchantId: string | null;
  /** Null = all of them. */
  readonly endpoint: EndpointChoice | null;
  readonly since: Date;
  /** Null = no bound. */
  readonly until: Date | null;
}

/**
 * Makes due at once the dead deliveries, those that wait for a later attempt, and those in one, at most 10 000. Returns
 * the endpoint of each.
 */
export async function recoverRange(query: Query, range: RecoverRange, now: Date): Promise<EndpointKey[]> {
  const { merchantId, endpoint, since, until } = range;
  const values = [patternOf(endpoint), since, until, now];
  if (merchantId !== null) return query<EndpointKey>(RECOVER_OF_MERCHANT, [...values, merchantId]);
  const { lowest, highest } = idBounds(since, until ?? undefined);
  return query<EndpointKey>(RECOVER_ALL, [...values, lowest, highest]);
}

/**
 * Makes due at once the deliveries that wait for a later attempt, including those that an attempt in progress will
 * postpone. They keep their schedule. Works in parts, so that no statement holds many locks.
 */
export async function hurry(query: Query, { merchantId, endpointId }: EndpointKey, now: Date): Promise<void> {
  await query(HURRY_IN_PROGRESS, [merchantId, endpointId, now]);
  while ((await query(HURRY, [merchantId, endpointId, now])).length === HURRIED_TOGETHER);
}

const HURRIED_TOGETHER = 1_000;

const ENDPOINT = 'd.merchant_id, d.endpoint_kind as endpoint_id';

/** A pattern of LIKE that the ids of the endpoints match; no id has a character with a meaning in it. */
function patternOf(endpoint: EndpointChoice | null): string | null {
  if (endpoint === null) return null;
  return 'endpointId' in endpoint ? endpoint.endpointId : `${endpoint.purpose}%`;
}

const HURRY = sql('hurry-deliveries')`with chosen as (
    select id from delivery where merchant_id = $1 and endpoint_kind = $2 and due_at > $3
    order by due_at, id limit ${HURRIED_TOGETHER} for update skip locked
  )
  update delivery d set due_at = $3 from chosen c where ${byIndex('d.id', 'c.id')} returning d.id`;

/** At most 200 are in progress at an endpoint, and they are the longest due. */
const HURRY_IN_PROGRESS = sql('hurry-deliveries-in-progress')`with chosen as (
    select id from (select id, locked_until from delivery where merchant_id = $1 and endpoint_kind = $2 and due_at <= $3
      order by due_at, id limit 200 for update skip locked) longest
    where locked_until > now()
  )
  update delivery d set due_at = $3 from chosen c where ${byIndex('d.id', 'c.id')} returning d.id`;

const REPLAY_ONE = sql('replay-delivery')`update delivery d set state = 'PENDING', due_at = $2, delivered_at = null,
      retry_base = attempt_count
    where id = $1 and body is not null and attempt_count < ${MAX_ATTEMPTS} returning ${ENDPOINT}`;

const REPLAY_RANGE = sql('replay-deliveries')`with chosen as (
    select id, row_number() over (order by id) - 1 as place from (
      select id from delivery
      where merchant_id = $1 and ($2::text is null or endpoint_kind like $2) and state = $3 and body is not null
        and attempt_count < ${MAX_ATTEMPTS} and ($4::timestamptz is null or created_at >= $4)
        and ($5::timestamptz is null or created_at < $5) and id >= $9 and id <= $10
      order by id limit $6 for update skip locked) oldest
  )
  update delivery d set state = 'PENDING', delivered_at = null, retry_base = d.attempt_count,
    due_at = $7::timestamptz + make_interval(secs => c.place * $8::float8)
  from chosen c where ${byIndex('d.id', 'c.id')}
  returning ${ENDPOINT}`;

/** SQL of a condition on what recover() finds. */
const RECOVERABLE = `body is not null and attempt_count < ${MAX_ATTEMPTS} and created_at >= $2
  and ($3::timestamptz is null or created_at < $3) and ($1::text is null or endpoint_kind like $1)`;

/**
 * Dead deliveries begin a new schedule; waiting ones, and those in an attempt, keep theirs. The ORDER BY makes the
 * planner choose the index of exactly these rows: reading the delivered ones took 5 s for 160 000.
 */
const recover = (name: string, dead: string, oldest: string, waiting: string) => sql(name)`with dead as (
    select id from delivery where ${dead} and ${RECOVERABLE} order by ${oldest} limit 10000 for update skip locked
  ),
  waiting as (
    select id from delivery
    where due_at is not null and (due_at > $4 or locked_until > now()) and ${waiting} and ${RECOVERABLE}
    order by merchant_id, endpoint_kind, due_at limit 10000 for update skip locked
  ),
  chosen as (select id from dead union all select id from waiting limit 10000)
  update delivery d set state = 'PENDING', due_at = $4,
    retry_base = case when d.state = 'DEAD' then d.attempt_count else d.retry_base end
  from chosen c where ${byIndex('d.id', 'c.id')}
  returning ${ENDPOINT}`;

const RECOVER_ALL = recover('recover-deliveries', `state = 'DEAD' and id >= $5 and id <= $6`, 'id', 'true');
const RECOVER_OF_MERCHANT = recover(
  'recover-deliveries-of-merchant',
  `merchant_id = $5 and due_at is null and state <> 'DELIVERED'`,
  'created_at',
  'merchant_id = $5',
);
