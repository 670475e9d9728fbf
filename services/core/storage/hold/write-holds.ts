import type { AGAIN } from '../../../../platform/gather.ts';
import type { Capabilities, HoldPhase } from '../../domain/hold.ts';
import type { Card } from '../../domain/operation.ts';
import type { Query } from '../database.ts';
import { type Settled, type SubmissionResult, settlement, settleSubmissions } from '../operation/settle-submissions.ts';
import { insertion, type Stored, type SubmissionInput, storeSubmissions } from '../operation/store-submissions.ts';

/** A new hold, before the processor is asked. */
export interface HoldInput extends SubmissionInput {
  readonly terminalId: string;
  readonly userId: string;
  readonly tokenId?: string | undefined;
  readonly phase: HoldPhase;
  /** Hexadecimal. */
  readonly idHash: string;
  readonly idCiphertext: string;
  readonly allowMultipleCaptures: boolean;
  readonly notifyHolds: boolean;
  readonly holdPeriodS: number;
  readonly merchantReference?: string | undefined;
  readonly metadata?: Record<string, string> | undefined;
  readonly returnUrl?: string | undefined;
  readonly saveCard: boolean;
  readonly checkoutExpiresAt?: string | undefined;
}

/** Stores new holds. */
export function insertHolds(query: Query, holds: readonly HoldInput[]): Promise<(Stored | typeof AGAIN)[]> {
  return storeSubmissions(query, INSERT_HOLDS, holds);
}

const INSERT_HOLDS = insertion(
  'insert-holds',
  'hold',
  {
    input: `"terminalId" text, "userId" text, "tokenId" text, phase text, "idHash" text, "idCiphertext" text,
      "allowMultipleCaptures" boolean, "notifyHolds" boolean, "holdPeriodS" int, "merchantReference" text, metadata jsonb,
      "returnUrl" text, "saveCard" boolean, "checkoutExpiresAt" timestamptz`,
    columns: `status, captured, in_flight, remaining, released, reversed, closing, frozen,
      terminal_id, user_id, token_id, phase, id_hash, id_ciphertext, allow_multiple_captures, notify_holds, hold_period_s,
      merchant_reference, metadata, return_url, save_card, checkout_expires_at`,
    values: `'IN_PROGRESS', 0, 0, amount, 0, 0, false, false,
      "terminalId", "userId", "tokenId", phase, decode("idHash", 'hex'), decode("idCiphertext", 'hex'), "allowMultipleCaptures",
      "notifyHolds", "holdPeriodS", "merchantReference", metadata, "returnUrl", "saveCard", "checkoutExpiresAt"`,
  },
  'i."tokenId" is not null',
);

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
