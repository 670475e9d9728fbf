import type { Log } from '../../../../platform/log.ts';
import { type Database, sql } from '../database.ts';

/** The identities of processors that a database keeps. One that answers as another is logged. */
export function identitiesIn({ query }: Pick<Database, 'query'>, log: Log) {
  return {
    /** Stores the identity that a processor states, unless one is stored already. Returns the stored one. */
    async recall(processor: string, { name, identity }: Identity): Promise<Identity> {
      const [row] = await query<Identity>(RECALL, [processor, name, identity]);
      if (!row) throw new Error('an identity that is stored is returned');
      return row;
    },
    differs: (processor: string) => log.error('processor_differs', { processor }),
  };
}

/** The identity that a processor states. */
interface Identity {
  readonly name: string;
  readonly identity: string;
}

/** The update of the processor by itself makes the statement return an existing row. */
const RECALL = sql('recall-identity')`insert into processor_identity (processor, name, identity, met_at)
    values ($1, $2, $3, clock_timestamp())
    on conflict (processor) do update set processor = excluded.processor returning name, identity`;
