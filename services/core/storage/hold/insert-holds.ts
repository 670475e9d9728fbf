import type { AGAIN } from '../../../../platform/gather.ts';
import type { HoldPhase } from '../../domain/hold.ts';
import type { Query } from '../database.ts';
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
