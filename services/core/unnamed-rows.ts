import { STORED_UNNAMED } from './domain/processor-name.ts';
import type { Processors } from './processor/processors.ts';
import type { Database } from './storage/database.ts';
import { isAnythingOpenAt } from './storage/operation/unsettled.ts';

/**
 * Refuses a start that could not tell which of PROCESSORS has what is open from before they had names. Sent to another one, an inquiry
 * would be answered that it was never seen, which ends what may have been charged. Throws an Error that names the setting.
 */
export async function refuseUnnamedRows({ query }: Pick<Database, 'query'>, processors: Processors): Promise<void> {
  const isKnown = STORED_UNNAMED.every((stored) => processors.nameOf(stored) !== undefined);
  if (isKnown || !(await isAnythingOpenAt(query, STORED_UNNAMED))) return;
  throw new Error(
    'settings: PROCESSOR_URL is needed beside PROCESSORS: holds or operations are open that were sent to the processor it named; ' +
      'set it to the address that PROCESSORS has for that one',
  );
}
