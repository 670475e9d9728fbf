import type { Cipher } from '../cipher.ts';
import { type Query, sql } from '../database.ts';
import { type EndpointId, isOfContract } from '../delivery/delivery-row.ts';
import { type EndpointState, FRESH } from './endpoint-row.ts';

/** The terms of attempts at one endpoint. */
export interface EndpointTerms {
  /** Null = the merchant has no such endpoint. */
  readonly url: string | null;
  /** It was removed: what waits for it is never sent. */
  readonly isRemoved: boolean;
  readonly state: EndpointState;
  readonly timeoutMs: number;
  /** Live signing secrets, oldest first. Throws when one cannot be decrypted, which is a fault of the settings. */
  readonly secrets: () => readonly string[];
  /** The headers that its owner adds, by name in lower case. Throws as `secrets`. */
  readonly headers: () => EndpointHeaders;
}

export type EndpointHeaders = Readonly<Record<string, string>>;

/** The terms of each endpoint of a merchant. */
export type MerchantTerms = (endpointId: EndpointId) => EndpointTerms;

/** Time limit of an attempt, unless the endpoint has its own. */
export const DEFAULT_TIMEOUT_S = 10;

/** Reads the terms of merchants. */
export async function readEndpointTerms(query: Query, cipher: Cipher, merchantIds: readonly string[]) {
  const rows = await query<{ id: string; terms: TermsJson }>(READ_TERMS, [merchantIds]);
  return new Map(rows.map(({ id, terms }) => [id, termsOf(terms, cipher)]));
}

interface Sealed {
  readonly id: string;
  readonly ciphertext: string;
}

/** The terms of a merchant as TERMS gives them. */
export interface TermsJson {
  readonly webhookUrl: string | null;
  readonly internalUrl: string | null;
  readonly secrets: readonly Sealed[];
  readonly states: readonly (Omit<EndpointState, 'pausedUntil' | 'failingSince'> & {
    endpointId: EndpointId;
    pausedUntil: string | null;
    failingSince: string | null;
  })[];
  /** The further endpoints; null = the merchant has none. */
  readonly endpoints:
    | readonly {
        readonly id: EndpointId;
        readonly url: string;
        readonly timeoutS: number;
        readonly headers: string | null;
        readonly secrets: readonly Sealed[];
      }[]
    | null;
}

/** Converts the terms of a merchant; secrets and headers are decrypted when they are asked for first. */
export function termsOf(row: TermsJson, cipher: Cipher): MerchantTerms {
  const states = new Map(row.states.map(({ endpointId, ...state }) => [endpointId, stateOf(state)]));
  const unseal = (secrets: readonly Sealed[]) =>
    once(() => secrets.map(({ id, ciphertext }) => cipher.open(fromBase64(ciphertext), secretContext(id))));
  const ofMerchant = unseal(row.secrets);
  const ofContract = {
    isRemoved: false,
    timeoutMs: DEFAULT_TIMEOUT_S * 1_000,
    secrets: ofMerchant,
    headers: () => ({}),
  };
  const terms = new Map<EndpointId, Omit<EndpointTerms, 'state'>>([
    ['webhook', { ...ofContract, url: row.webhookUrl }],
    ['internal', { ...ofContract, url: row.internalUrl }],
  ]);
  for (const { id, url, timeoutS, headers, secrets } of row.endpoints ?? []) {
    const opened = once(() => (headers === null ? {} : openHeaders(cipher, id, fromBase64(headers))));
    const own = { url, isRemoved: false, timeoutMs: timeoutS * 1_000, secrets: unseal(secrets), headers: opened };
    terms.set(id, own);
  }
  return (id) => ({ ...(terms.get(id) ?? noTerms(id)), state: states.get(id) ?? FRESH });
}

/** Terms of an endpoint that does not exist, or whose merchant does not: every attempt fails. */
export function noTerms(id: EndpointId): EndpointTerms {
  const nothing = { secrets: () => [], headers: () => ({}), state: FRESH };
  return { url: null, isRemoved: !isOfContract(id), timeoutMs: DEFAULT_TIMEOUT_S * 1_000, ...nothing };
}

/** The context in which a signing secret is sealed. */
export function secretContext(id: string): string {
  return `signing-secret:${id}`;
}

/** Seals the headers of an endpoint. */
export function sealHeaders(cipher: Cipher, id: EndpointId, headers: EndpointHeaders): Buffer {
  return cipher.seal(JSON.stringify(headers), `endpoint-headers:${id}`);
}

/** Opens them. */
export function openHeaders(cipher: Cipher, id: EndpointId, sealed: Buffer): EndpointHeaders {
  return JSON.parse(cipher.open(sealed, `endpoint-headers:${id}`));
}

function stateOf({ pausedUntil, failingSince, ...state }: Omit<TermsJson['states'][number], 'endpointId'>) {
  const time = (text: string | null) => (text === null ? null : new Date(text));
  return { ...state, pausedUntil: time(pausedUntil), failingSince: time(failingSince) };
}

function fromBase64(text: string): Buffer {
  return Buffer.from(text, 'base64');
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** SQL: live secrets of a table that meet a condition, as JSON, oldest first. */
const sealedSecrets = (table: string, condition: string) =>
  `coalesce((select json_agg(json_build_object('id', s.id, 'ciphertext', encode(s.ciphertext, 'base64'))
          order by s.created_at, s.id)
        from ${table} s where ${condition} and s.retired_at is null), '[]')`;

/** SQL: the terms of a merchant `m`, as JSON. */
export const TERMS = `json_build_object('webhookUrl', m.webhook_url, 'internalUrl', m.internal_url,
      'secrets', ${sealedSecrets('signing_secret', 's.merchant_id = m.id')},
      'states', coalesce((select json_agg(json_build_object('endpointId', e.kind, 'pause', e.pause,
          'pausedUntil', e.paused_until, 'failureCount', e.failure_count, 'refusedCount', e.refused_count,
          'failingSince', e.failing_since, 'pauseCount', e.pause_count, 'lastError', e.last_error,
          'told', coalesce(e.told, '{}')))
        from endpoint e where e.merchant_id = m.id), '[]'),
      'endpoints', case when m.has_endpoints then (select json_agg(json_build_object('id', w.id, 'url', w.url,
          'timeoutS', w.timeout_s, 'headers', encode(w.headers_ciphertext, 'base64'),
          'secrets', ${sealedSecrets('endpoint_secret', 's.merchant_id = w.merchant_id and s.endpoint_id = w.id')}))
        from webhook_endpoint w where w.merchant_id = m.id) end)`;

const READ_TERMS = sql('read-endpoint-terms')`select m.id, ${TERMS} as terms
    from merchant m where m.id = any($1::text[])`;
