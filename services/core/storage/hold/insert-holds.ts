import type { AGAIN } from '../../../../platform/gather.ts';
import type { HoldPhase } from '../../domain/hold.ts';
import { CLAIMED } from '../claim/claim-row.ts';
import { sentUnderKey } from '../claim/key-identifier.ts';
import type { Query, Statement } from '../database.ts';
import {
  IS_LATE,
  LOST,
  MAY_BE_LOST,
  OUTCOMES,
  SENT_INPUT,
  type SentInput,
  type Stored,
  storeEach,
} from '../submission/store-submissions.ts';

/** A new hold, before the processor is asked. */
export interface HoldInput extends SentInput {
  readonly terminalId: string;
  readonly userId: string;
  readonly tokenId?: string | undefined;
  readonly phase: HoldPhase;
  /** Hexadecimal. */
  readonly idHash: string;
  readonly idCiphertext: string;
  readonly allowMultipleCaptures: boolean;
  readonly notifyHolds: boolean;
  readonly notifyExpiringHours?: number | null | undefined;
  readonly holdPeriodS: number;
  readonly merchantReference?: string | undefined;
  readonly description?: string | undefined;
  readonly customerPresent: boolean;
  readonly expectedCaptureAt?: string | undefined;
  readonly captureAt?: string | undefined;
  readonly releaseAt?: string | undefined;
  /** The hold that it renews. */
  readonly renews?: string | undefined;
  readonly metadata?: Record<string, string> | undefined;
  readonly returnUrl?: string | undefined;
  readonly saveCard: boolean;
  readonly checkoutExpiresAt?: string | undefined;
}

/** Stores new holds. */
export function insertHolds(query: Query, holds: readonly HoldInput[]): Promise<(Stored | typeof AGAIN)[]> {
  return storeEach(query, INSERT_HOLDS, holds);
}

export const INSERT_HOLDS: Statement = {
  name: 'insert-holds',
  text: `with input as materialized (
    select i.*, sent.*, ${IS_LATE}, ${MAY_BE_LOST}
    from json_to_recordset($1::json) as i(${SENT_INPUT},
      "terminalId" text, "userId" text, "tokenId" text, phase text, "idHash" text, "idCiphertext" text,
      "allowMultipleCaptures" boolean, "notifyHolds" boolean, "holdPeriodS" int, "merchantReference" text,
      description text, "customerPresent" boolean, "expectedCaptureAt" timestamptz, "notifyExpiringHours" int,
      renews uuid, "captureAt" timestamptz, "releaseAt" timestamptz, metadata jsonb, "returnUrl" text,
      "saveCard" boolean, "checkoutExpiresAt" timestamptz)
    ${LOST}
    ${sentUnderKey('hold')}
  ),
  admissible as materialized (select * from input where not late and not met and not maybe_lost),
  ${CLAIMED},
  stored as (
    insert into hold (request_id, merchant_id, amount, amount_asked, currency, processor, processor_account,
      processor_request_id, created_at, inquire_at, inquiry_count,
      status, captured, in_flight, remaining, released, reversed, closing, frozen,
      terminal_id, user_id, token_id, phase, id_hash, id_ciphertext, allow_multiple_captures, notify_holds,
      hold_period_s, merchant_reference, description, customer_present, expected_capture_at, capture_at, release_at,
      notify_expiring_hours, renews, releases_old, metadata, return_url, save_card, checkout_expires_at)
    select "requestId", "merchantId", amount, amount, currency, processor, "processorAccount",
      "sentAs", "createdAt", "inquireAt", 0,
      'IN_PROGRESS', 0, 0, 0, 0, 0, false, false,
      "terminalId", "userId", "tokenId", phase, decode("idHash", 'hex'), decode("idCiphertext", 'hex'),
      "allowMultipleCaptures", "notifyHolds", "holdPeriodS",
      "merchantReference", description, "customerPresent", "expectedCaptureAt", "captureAt", "releaseAt",
      "notifyExpiringHours", renews, renews is not null, metadata, "returnUrl", "saveCard", "checkoutExpiresAt"
    from admissible where "requestId" in (select request_id from claimed)
  )
  ${OUTCOMES}`,
};
