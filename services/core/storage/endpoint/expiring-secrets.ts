import { inNameOf } from '../audit-log/actor.ts';
import { audited } from '../audit-log/audit-log.ts';
import { type Database, type Query, sql } from '../database.ts';
import { nextChangeNumber } from '../merchant/credential-rows.ts';
import { type EndpointKey, endpointName } from './endpoint-row.ts';
import { tellOwners } from './tell-owners.ts';

/** A merchant is told so long before a secret expires, or as soon as that is known. */
const NOTICE_DAYS = 7;

/** A secret that expires; the endpoint of a merchant's is `webhook`. */
type ExpiringSecret = EndpointKey & { readonly id: string; readonly expiresAt: Date };

/** Tells of secrets that expire soon, each once. Returns the endpoint of each delivery. Call it in a transaction. */
export async function tellOfExpiringSecrets(query: Query, now: Date): Promise<EndpointKey[]> {
  const expiring = await query<ExpiringSecret>(MARK_EXPIRING, [now]);
  const notices = expiring.map(({ id, expiresAt, ...endpoint }) => ({
    ...endpoint,
    type: 'signing_secret.expiring' as const,
    subject: { signingSecretId: id, expiresAt },
  }));
  return tellOwners(query, notices, now);
}

/**
 * Retires the secrets whose time is over, in the name of the worker. One without a successor stays, as when somebody
 * ends it: a process of 1.0.0 may have retired the successor. Returns their number.
 */
export async function retireExpiredSecrets(database: Database, now: Date): Promise<number> {
  let retired = 0;
  for (const { id, ...endpoint } of await database.query<ExpiringSecret>(FIND_EXPIRED, [now])) {
    const isRetired = await inNameOf('worker', () => retire(database, id, endpoint, now));
    if (isRetired) retired += 1;
  }
  return retired;
}

/** Retires one, as an operator does it: with an audit entry, and a change number, by which gateways learn of it. */
function retire(database: Database, id: string, endpoint: EndpointKey, at: Date): Promise<boolean> {
  const { merchantId, endpointId } = endpoint;
  const ofFurther = endpointId !== 'webhook';
  const detail = { ...(ofFurther && { endpoint: endpointName(endpoint) }), signingSecretId: id };
  const action = { at, action: 'signing-secret.retire', target: merchantId, detail };
  return audited(database, action, async (query) => {
    await query(LOCK_MERCHANT, [merchantId]);
    const retired = await query(ofFurther ? RETIRE_OF_ENDPOINT : RETIRE_OF_MERCHANT, [id, at]);
    if (retired.length === 0) return false;
    await query(SET_CHANGE_NUMBER, [merchantId, await nextChangeNumber(query)]);
    return true;
  });
}

const OF = { signing_secret: `'webhook'`, endpoint_secret: 'endpoint_id' } as const;
type SecretTable = keyof typeof OF;

/** Two workers that run it at once wait for each other's rows, and see that they are marked. */
const marked = (table: SecretTable) => `update ${table} set expiry_told_at = $1
    where expires_at <= $1::timestamptz + interval '${NOTICE_DAYS} days' and retired_at is null and expiry_told_at is null
    returning id, merchant_id, ${OF[table]} as endpoint_id, expires_at`;

const MARK_EXPIRING = sql('mark-expiring-secrets')`with of_merchants as (${marked('signing_secret')}),
  of_endpoints as (${marked('endpoint_secret')})
  select * from of_merchants union all select * from of_endpoints`;

const expired = (table: SecretTable) => `select id, merchant_id, ${OF[table]} as endpoint_id, expires_at from ${table}
    where expires_at <= $1 and retired_at is null`;

const FIND_EXPIRED = sql('find-expired-secrets')`${expired('signing_secret')} union all ${expired('endpoint_secret')}`;

const LOCK_MERCHANT = sql('lock-merchant')`select from merchant where id = $1 for update`;

const retiring = (table: SecretTable) => `update ${table} s set retired_at = $2
    where s.id = $1 and s.retired_at is null and exists (
      select from ${table} o where o.merchant_id = s.merchant_id ${table === 'endpoint_secret' ? 'and o.endpoint_id = s.endpoint_id' : ''}
        and o.id <> s.id and o.retired_at is null and o.expires_at is null)
    returning s.id`;

const RETIRE_OF_MERCHANT = sql('retire-expired-secret')`${retiring('signing_secret')}`;
const RETIRE_OF_ENDPOINT = sql('retire-expired-endpoint-secret')`${retiring('endpoint_secret')}`;

const SET_CHANGE_NUMBER = sql('set-change-number')`update merchant set change_number = $2 where id = $1`;
