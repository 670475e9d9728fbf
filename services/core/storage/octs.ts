import type { Card } from '../domain/operation.ts';
import { claimKeys, type KeyInput } from './claim-key.ts';
import type { Query, Statement } from './database.ts';
import { appendOperations, type OperationInput, SETTLED, type Settled, settled } from './operation-log.ts';

/** A new OCT, before the processor is asked. */
export interface OctInput {
  readonly requestId: string;
  readonly merchantId: string;
  readonly terminalId: string;
  readonly userId: string;
  readonly tokenId: string;
  /** Minor units. */
  readonly amount: string;
  readonly currency: string;
  readonly merchantReference?: string | undefined;
  readonly createdAt: string;
  readonly inquireAt: string;
  readonly key?: KeyInput | undefined;
}

/** Stores new OCTs. Answers, for each, whether it was stored: not when its key is taken. */
export async function insertOcts(query: Query, octs: readonly OctInput[]): Promise<boolean[]> {
  const rows = await query<{ request_id: string }>(INSERT_OCTS, [JSON.stringify(octs)]);
  const stored = new Set(rows.map((row) => row.request_id));
  return octs.map((oct) => stored.has(oct.requestId));
}

/** How an OCT ended. */
export interface OctResult {
  readonly requestId: string;
  readonly ok: boolean;
  readonly at: string;
  readonly processorReference?: string | undefined;
  readonly bankReference?: string | undefined;
  readonly processorCode?: string | undefined;
  readonly processorMessage?: string | undefined;
  readonly card?: Card | undefined;
  readonly operation: OperationInput;
}

/** Ends OCTs, with their operations and deliveries. An OCT that had ended already is left as it is. */
export async function settleOcts(query: Query, results: readonly OctResult[]): Promise<Settled> {
  const operations = results.map((result) => result.operation);
  return settled(await query(SETTLE_OCTS, [JSON.stringify(results), JSON.stringify(operations)]));
}

const INSERT_OCTS: Statement = {
  name: 'insert-octs',
  text: `with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, "merchantId" text, "terminalId" text,
      "userId" text, "tokenId" text, amount bigint, currency text, "merchantReference" text, "createdAt" timestamptz,
      "inquireAt" timestamptz, key json)
  ),
  ${claimKeys('input')}
  insert into oct (request_id, merchant_id, terminal_id, user_id, token_id, state, amount, currency, merchant_reference,
    created_at, inquire_at, inquiry_count)
  select "requestId", "merchantId", "terminalId", "userId", "tokenId", 'PENDING', amount, currency, "merchantReference",
    "createdAt", "inquireAt", 0
  from input where key is null or "requestId" in (select request_id from claimed)
  on conflict (request_id) do nothing
  returning request_id`,
};

const SETTLE_OCTS: Statement = {
  name: 'settle-octs',
  text: `with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, ok boolean, at timestamptz,
      "processorReference" text, "bankReference" text, "processorCode" text, "processorMessage" text, card json)
  ),
  changed as (
    update oct o set
      state = case when i.ok then 'OK' else 'KO' end, final_at = i.at,
      processor_reference = i."processorReference", bank_reference = i."bankReference",
      processor_code = i."processorCode", processor_message = i."processorMessage",
      card_brand = i.card->>'brand', card_last4 = i.card->>'last4',
      card_expiry_month = (i.card->>'expiryMonth')::int, card_expiry_year = (i.card->>'expiryYear')::int,
      inquire_at = null
    from input i
    where o.request_id = i."requestId" and o.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')
    returning o.request_id as subject_id
  ),
  ${appendOperations('$2')}
  ${SETTLED}`,
};
