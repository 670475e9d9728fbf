import type { Capabilities } from '../../domain/hold.ts';
import type { Card } from '../../domain/operation.ts';
import type { Query } from '../database.ts';
import { type Settled, type SubmissionResult, settlement, settleSubmissions } from '../operation/settle-submissions.ts';

/** How placing a hold ended. */
export interface HoldResult extends SubmissionResult {
  readonly expiresAt?: string | undefined;
  readonly generatedTokenId?: string | undefined;
  readonly card?: Card | undefined;
  readonly capabilities?: Capabilities | undefined;
}

/**
 * Ends the placing of holds. One that is placed while its checkout is being cancelled stays closing, until the processor has said which
 * came first.
 */
export function settleHolds(query: Query, results: readonly HoldResult[]): Promise<Settled> {
  return settleSubmissions(query, SETTLE_HOLDS, JSON.stringify(results));
}

const SETTLE_HOLDS = settlement('settle-holds', 'hold', {
  input: '"expiresAt" timestamptz, "generatedTokenId" text, card json, capabilities jsonb',
  set: `phase = case when i.ok then 'AUTHORIZED' else 'FAILED' end,
      status = case when i.ok then 'IN_PROGRESS' else 'FAILED' end,
      remaining = case when i.ok then s.amount else 0 end,
      released = case when i.ok then 0 else s.amount end,
      placed_at = case when i.ok then i.at end,
      closed_at = case when i.ok then null else i.at end,
      expires_at = i."expiresAt", closing = s.closing and i.ok,
      card_brand = i.card->>'brand', card_last4 = i.card->>'last4',
      card_expiry_month = (i.card->>'expiryMonth')::int, card_expiry_year = (i.card->>'expiryYear')::int,
      generated_token_id = i."generatedTokenId", capabilities = i.capabilities`,
});
