import { type Query, sql } from '../database.ts';

/** Stores who a processor says it is, unless it is stored already. Returns what is stored. */
export async function recallIdentity(
  query: Query,
  processor: string,
  { name, identity }: { readonly name: string; readonly identity: string },
): Promise<{ readonly name: string; readonly identity: string }> {
  const [row] = await query<{ name: string; identity: string }>(RECALL, [processor, name, identity]);
  if (!row) throw new Error('an identity that is stored is returned');
  return row;
}

/** The update of the processor by itself makes the statement return an existing row. */
const RECALL = sql('recall-identity')`insert into processor_identity (processor, name, identity, met_at)
    values ($1, $2, $3, clock_timestamp())
    on conflict (processor) do update set processor = excluded.processor returning name, identity`;
