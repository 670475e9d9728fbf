import type { Query, Statement } from '../database.ts';

/** The name that a merchant's customers see; undefined when there is no such merchant. */
export async function findMerchantName(query: Query, merchantId: string): Promise<string | undefined> {
  return (await query<{ name: string }>(FIND_NAME, [merchantId]))[0]?.name;
}

const FIND_NAME: Statement = { name: 'find-merchant-name', text: 'select name from merchant where id = $1' };
