import type { AGAIN } from '../../../../platform/gather.ts';
import type { Query, Statement } from '../database.ts';
import { claimKeys, type KeyInput } from '../idempotency-key/idempotency-key.ts';
import { sentUnderKey } from '../idempotency-key/key-identifier.ts';
import { insertionOutcomes, isKnownRequest, readOutcomes, type Stored } from '../operation/known-request.ts';

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
  /** A name of PROCESSORS, and the merchant's account there. */
  readonly processor: string;
  readonly processorAccount: string;
  /** Its identifier there; absent = it follows from the key, or is the requestId. */
  readonly processorRequestId?: string | undefined;
  /** It is imported from the processor's books. */
  readonly imported?: boolean | undefined;
  readonly createdAt: string;
  readonly inquireAt: string;
  /** RFC 3339, by PostgreSQL's clock; after it nothing is stored. */
  readonly deadline?: string | undefined;
  readonly key?: KeyInput | undefined;
}

/** Stores new OCTs. Answers, for each, what became of it; AGAIN = try once more. */
export async function insertOcts(
  query: Query,
  octs: readonly OctInput[],
): Promise<(Stored<'STORED'> | typeof AGAIN)[]> {
  const requestIds = octs.map(({ requestId }) => requestId);
  return readOutcomes(await query(INSERT_OCTS, [JSON.stringify(octs)]), requestIds);
}

const INSERT_OCTS: Statement = {
  name: 'insert-octs',
  text: `with input as materialized (
    select i.*, coalesce(i.deadline <= clock_timestamp(), false) as late, ${isKnownRequest('i."requestId"')} as known, sent.*
    from json_to_recordset($1::json) as i("requestId" uuid, "merchantId" text, "terminalId" text,
      "userId" text, "tokenId" text, amount bigint, currency text, "merchantReference" text, "createdAt" timestamptz,
      "inquireAt" timestamptz, deadline timestamptz, key json, processor text, "processorAccount" text, "processorRequestId" uuid, imported boolean)
    ${sentUnderKey('oct')}
  ),
  admissible as materialized (select * from input where not late and not known and not met),
  ${claimKeys('admissible')},
  stored as (
    insert into oct (request_id, merchant_id, terminal_id, user_id, token_id, state, amount, currency, merchant_reference,
      created_at, inquire_at, inquiry_count, processor, processor_account, processor_request_id, imported)
    select "requestId", "merchantId", "terminalId", "userId", "tokenId", 'PENDING', amount, currency, "merchantReference",
      "createdAt", "inquireAt", 0, processor, "processorAccount", "sentAs", coalesce(imported, false)
    from admissible where key is null or "requestId" in (select request_id from claimed)
    on conflict (request_id) do nothing
    returning request_id
  )
  ${insertionOutcomes('oct')}`,
};
