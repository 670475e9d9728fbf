import { claimKeys, type KeyInput } from './claim-key.ts';
import type { Query, Statement } from './database.ts';

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
