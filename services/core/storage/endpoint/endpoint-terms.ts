import type { Cipher } from '../cipher.ts';
import { type Query, sql } from '../database.ts';
import type { EndpointKind } from '../delivery/delivery-row.ts';
import { type EndpointState, FRESH } from './endpoint-row.ts';

/** The terms of attempts at a merchant's endpoints. */
export interface EndpointTerms {
  readonly urls: Readonly<Record<EndpointKind, string | null>>;
  readonly states: Readonly<Record<EndpointKind, EndpointState>>;
  /** Live signing secrets, oldest first. Throws when one cannot be decrypted, which is a fault of the settings. */
  readonly secrets: () => readonly string[];
}

/** Reads the terms of merchants. */
export async function readEndpointTerms(query: Query, cipher: Cipher, merchantIds: readonly string[]) {
  const rows = await query<{ id: string; terms: TermsJson }>(READ_TERMS, [merchantIds]);
  return new Map(rows.map(({ id, terms }) => [id, termsOf(terms, cipher)]));
}

/** The terms of a merchant as TERMS gives them. */
export interface TermsJson {
  readonly webhookUrl: string | null;
  readonly internalUrl: string | null;
  readonly secrets: readonly { readonly id: string; readonly ciphertext: string }[];
  readonly states: readonly (Omit<EndpointState, 'pausedUntil' | 'failingSince'> & {
    kind: EndpointKind;
    pausedUntil: string | null;
    failingSince: string | null;
  })[];
}

/** Converts the terms of a merchant; its secrets are decrypted when they are asked for first. */
export function termsOf(row: TermsJson, cipher: Cipher): EndpointTerms {
  const states: Record<EndpointKind, EndpointState> = { webhook: FRESH, internal: FRESH };
  const time = (text: string | null) => (text === null ? null : new Date(text));
  for (const { kind, pausedUntil, failingSince, ...state } of row.states) {
    states[kind] = { ...state, pausedUntil: time(pausedUntil), failingSince: time(failingSince) };
  }
  const decrypted = () =>
    row.secrets.map(({ id, ciphertext }) => cipher.open(Buffer.from(ciphertext, 'base64'), `signing-secret:${id}`));
  let secrets: readonly string[] | undefined;
  return {
    urls: { webhook: row.webhookUrl, internal: row.internalUrl },
    states,
    secrets: () => {
      secrets ??= decrypted();
      return secrets;
    },
  };
}

/** SQL: the terms of a merchant `m`, as JSON. */
export const TERMS = `json_build_object('webhookUrl', m.webhook_url, 'internalUrl', m.internal_url,
      'secrets', coalesce((select json_agg(json_build_object('id', s.id, 'ciphertext', encode(s.ciphertext, 'base64'))
          order by s.created_at, s.id)
        from signing_secret s where s.merchant_id = m.id and s.retired_at is null), '[]'),
      'states', coalesce((select json_agg(json_build_object('kind', e.kind, 'pause', e.pause,
          'pausedUntil', e.paused_until, 'failureCount', e.failure_count, 'refusedCount', e.refused_count,
          'failingSince', e.failing_since, 'pauseCount', e.pause_count))
        from endpoint e where e.merchant_id = m.id), '[]'))`;

const READ_TERMS = sql('read-endpoint-terms')`select m.id, ${TERMS} as terms
    from merchant m where m.id = any($1::text[])`;
