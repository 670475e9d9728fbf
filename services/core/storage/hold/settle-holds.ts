import type { Capabilities } from '../../domain/hold.ts';
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

/** How placing a hold ended. */
export interface HoldResult {
  readonly requestId: string;
  readonly placed: boolean;
  readonly at: string;
  readonly expiresAt?: string | undefined;
  readonly processorReference?: string | undefined;
  readonly processorCode?: string | undefined;
  readonly processorMessage?: string | undefined;
  readonly generatedTokenId?: string | undefined;
  readonly card?: Card | undefined;
  readonly capabilities?: Capabilities | undefined;
  readonly operation: OperationInput;
}

/**
 * Ends the placing of holds, with their operations and deliveries. A hold that had ended already, or that somebody else has locked, is left as it is; one that is
 * placed while its checkout is being cancelled stays closing, until the processor has said which came first.
 */
export async function settleHolds(query: Query, results: readonly HoldResult[]): Promise<Settled> {
  return settled(await query(SETTLE_HOLDS, [JSON.stringify(results)]));
}

const SETTLE_HOLDS: Statement = {
  name: 'settle-holds',
  text: `with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, placed boolean, at timestamptz,
      "expiresAt" timestamptz, "processorReference" text, "processorCode" text, "processorMessage" text,
      "generatedTokenId" text, card json, capabilities jsonb, operation json)
  ),
  locked as materialized (
    select i.* from input i join hold k on ${byIndex('k.request_id', 'i."requestId"')} 
    for no key update of k skip locked
  ),
  changed as (
    update hold h set
      phase = case when i.placed then 'AUTHORIZED' else 'FAILED' end,
      status = case when i.placed then 'IN_PROGRESS' else 'FAILED' end,
      remaining = case when i.placed then h.amount else 0 end,
      released = case when i.placed then 0 else h.amount end,
      placed_at = case when i.placed then i.at end,
      closed_at = case when i.placed then null else i.at end,
      expires_at = i."expiresAt",
      closing = h.closing and i.placed,
      card_brand = i.card->>'brand', card_last4 = i.card->>'last4',
      card_expiry_month = (i.card->>'expiryMonth')::int, card_expiry_year = (i.card->>'expiryYear')::int,
      generated_token_id = i."generatedTokenId", capabilities = i.capabilities, processor_reference = i."processorReference",
      processor_code = i."processorCode", processor_message = i."processorMessage", inquire_at = null
    from locked i
    where ${byIndex('h.request_id', 'i."requestId"')} and h.phase in ('AWAITING_CHECKOUT', 'AUTHORIZING', 'UNKNOWN', 'NEEDS_REVIEW')
    returning h.request_id as subject_id, i.operation
  ),
  ${APPEND_OPERATIONS}
  ${settledBy('"requestId"')}`,
};
