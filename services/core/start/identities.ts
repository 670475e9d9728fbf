import type { Log } from '../../../platform/log.ts';
import type { Identities } from '../processor/identity-check.ts';
import type { Database } from '../storage/database.ts';
import { recallIdentity } from '../storage/processor-identity/processor-identity.ts';

/** The identities of processors that a database keeps. One that answers as another is logged. */
export function identitiesIn({ query }: Pick<Database, 'query'>, log: Log): Identities {
  return {
    recall: (processor, shown) => recallIdentity(query, processor, shown),
    differs: (processor) => log.error('processor_differs', { processor }),
  };
}
