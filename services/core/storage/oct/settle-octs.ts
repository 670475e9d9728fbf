import type { Card } from '../../domain/operation.ts';
import { byIndex } from '../by-index.ts';
import type { Query, Statement } from '../database.ts';
import {
  APPEND_OPERATIONS,
  type OperationInput,
  type Settled,
  settled,
  settledBy,
} from '../operation/operation-log.ts';

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

/** Ends OCTs, with their operations and deliveries. An OCT that had ended already is left as it is, and so is one that somebody else has locked. */
export async function settleOcts(query: Query, results: readonly OctResult[]): Promise<Settled> {
  return settled(await query(SETTLE_OCTS, [JSON.stringify(results)]));
}

const SETTLE_OCTS: Statement = {
  name: 'settle-octs',
  text: `with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, ok boolean, at timestamptz,
      "processorReference" text, "bankReference" text, "processorCode" text, "processorMessage" text, card json,
      operation json)
  ),
  locked as materialized (
    select i.* from input i join oct k on ${byIndex('k.request_id', 'i."requestId"')} 
    for no key update of k skip locked
  ),
  changed as (
    update oct o set
      state = case when i.ok then 'OK' else 'KO' end, final_at = i.at,
      processor_reference = i."processorReference", bank_reference = i."bankReference",
      processor_code = i."processorCode", processor_message = i."processorMessage",
      card_brand = i.card->>'brand', card_last4 = i.card->>'last4',
      card_expiry_month = (i.card->>'expiryMonth')::int, card_expiry_year = (i.card->>'expiryYear')::int,
      inquire_at = null
    from locked i
    where ${byIndex('o.request_id', 'i."requestId"')} and o.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')
    returning o.request_id as subject_id, i.operation
  ),
  ${APPEND_OPERATIONS}
  ${settledBy('"requestId"')}`,
};
