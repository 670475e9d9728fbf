import type { AGAIN } from '../../../../platform/gather.ts';
import type { HoldPhase } from '../../domain/hold.ts';
import type { Query, Statement } from '../database.ts';
import { claimKeys, type KeyInput } from '../idempotency-key/idempotency-key.ts';
import { sentUnderKey } from '../idempotency-key/key-identifier.ts';
import { insertionOutcomes, isKnownRequest, readOutcomes, type Stored } from '../operation/known-request.ts';

/** A new hold, before the processor is asked. */
export interface HoldInput {
  readonly requestId: string;
  readonly merchantId: string;
  readonly terminalId: string;
  readonly userId: string;
  readonly tokenId?: string | undefined;
  readonly phase: HoldPhase;
  /** Minor units. */
  readonly amount: string;
  readonly currency: string;
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
  /** A name of PROCESSORS, and the merchant's account there. */
  readonly processor: string;
  readonly processorAccount: string;
  /** Its identifier there; absent = it follows from the key, or is the requestId. */
  readonly processorRequestId?: string | undefined;
  /** It is imported from the processor's books. */
  readonly imported?: boolean | undefined;
  readonly createdAt: string;
  readonly inquireAt?: string | undefined;
  /** RFC 3339, by PostgreSQL's clock; after it nothing is stored. */
  readonly deadline?: string | undefined;
  readonly key?: KeyInput | undefined;
}

/** Stores new holds. Answers, for each, what became of it; AGAIN = try once more. */
export async function insertHolds(
  query: Query,
  holds: readonly HoldInput[],
): Promise<(Stored<'STORED'> | typeof AGAIN)[]> {
  const requestIds = holds.map(({ requestId }) => requestId);
  return readOutcomes(await query(INSERT_HOLDS, [JSON.stringify(holds)]), requestIds);
}

const INSERT_HOLDS: Statement = {
  name: 'insert-holds',
  text: `with input as materialized (
    select i.*, coalesce(i.deadline <= clock_timestamp(), false) as late, ${isKnownRequest('i."requestId"')} as known, sent.*
    from json_to_recordset($1::json) as i(
      "requestId" uuid, "merchantId" text, "terminalId" text, "userId" text, "tokenId" text, phase text, amount bigint,
      currency text, "idHash" text, "idCiphertext" text, "allowMultipleCaptures" boolean, "notifyHolds" boolean,
      "holdPeriodS" int, "merchantReference" text, metadata jsonb, "returnUrl" text, "saveCard" boolean,
      "checkoutExpiresAt" timestamptz, "createdAt" timestamptz, "inquireAt" timestamptz, deadline timestamptz, key json,
      processor text, "processorAccount" text, "processorRequestId" uuid, imported boolean)
    ${sentUnderKey('hold', 'i."tokenId" is not null')}
  ),
  admissible as materialized (select * from input where not late and not known and not met),
  ${claimKeys('admissible')},
  stored as (
    insert into hold (request_id, merchant_id, terminal_id, user_id, token_id, status, phase, amount, currency, captured,
      in_flight, remaining, released, reversed, closing, frozen, id_hash, id_ciphertext, allow_multiple_captures,
      notify_holds, hold_period_s, merchant_reference, metadata, return_url, save_card, checkout_expires_at, created_at,
      inquire_at, inquiry_count, processor, processor_account, processor_request_id, imported)
    select "requestId", "merchantId", "terminalId", "userId", "tokenId", 'IN_PROGRESS', phase, amount, currency, 0, 0,
      amount, 0, 0, false, false, decode("idHash", 'hex'), decode("idCiphertext", 'hex'), "allowMultipleCaptures",
      "notifyHolds", "holdPeriodS", "merchantReference", metadata, "returnUrl", "saveCard", "checkoutExpiresAt",
      "createdAt", "inquireAt", 0, processor, "processorAccount", "sentAs", coalesce(imported, false)
    from admissible where key is null or "requestId" in (select request_id from claimed)
    on conflict (request_id) do nothing
    returning request_id
  )
  ${insertionOutcomes('hold')}`,
};
