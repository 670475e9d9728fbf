import { type AGAIN, Gather, type GatherOptions } from '../../../platform/gather.ts';
import { isAboutOneRow, isResultLost } from './database-errors.ts';

/**
 * Lets concurrent requests share commits. A statement never has two commands with one key, because `UPDATE … FROM`
 * would apply only one of them. A statement that fails because of one row is repeated row by row; one whose connection
 * broke is sent again.
 */
export class StatementGather<Command, Answer> extends Gather<Command, Answer> {
  constructor(
    run: (commands: readonly Command[]) => Promise<readonly (Answer | typeof AGAIN)[]>,
    options: Omit<GatherOptions<Command, Answer>, 'isLost'>,
  ) {
    super(run, { maxWaitMs: MAX_WAIT_MS, isAboutOne: isAboutOneRow, ...options, isLost: isResultLost });
  }
}

const MAX_WAIT_MS = 5_000;
