import type { AGAIN } from '../../../../platform/gather.ts';
import type { Card } from '../../domain/operation.ts';
import type { Query } from '../database.ts';
import { type Settled, type SubmissionResult, settlement, settleSubmissions } from '../operation/settle-submissions.ts';
import { insertion, type Stored, type SubmissionInput, storeSubmissions } from '../operation/store-submissions.ts';

/** A new OCT, before the processor is asked. */
export interface OctInput extends SubmissionInput {
  readonly terminalId: string;
  readonly userId: string;
  readonly tokenId: string;
  readonly merchantReference?: string | undefined;
}

/** Stores new OCTs. */
export function insertOcts(query: Query, octs: readonly OctInput[]): Promise<(Stored | typeof AGAIN)[]> {
  return storeSubmissions(query, INSERT_OCTS, octs);
}

const INSERT_OCTS = insertion('insert-octs', 'oct', {
  input: '"terminalId" text, "userId" text, "tokenId" text, "merchantReference" text',
  columns: 'state, terminal_id, user_id, token_id, merchant_reference',
  values: `'PENDING', "terminalId", "userId", "tokenId", "merchantReference"`,
});

/** How an OCT ended. */
export interface OctResult extends SubmissionResult {
  readonly bankReference?: string | undefined;
  readonly card?: Card | undefined;
}

/** Ends OCTs. */
export function settleOcts(query: Query, results: readonly OctResult[]): Promise<Settled> {
  return settleSubmissions(query, SETTLE_OCTS, JSON.stringify(results));
}

const SETTLE_OCTS = settlement('settle-octs', 'oct', {
  input: '"bankReference" text, card json',
  set: `state = case when i.ok then 'OK' else 'KO' end, final_at = i.at, bank_reference = i."bankReference",
      card_brand = i.card->>'brand', card_last4 = i.card->>'last4',
      card_expiry_month = (i.card->>'expiryMonth')::int, card_expiry_year = (i.card->>'expiryYear')::int`,
});
