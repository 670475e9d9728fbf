import { type AGAIN, Gather, type GatherOptions, ResultLost } from '../../../platform/gather.ts';
import { isAboutOneRow, isResultLost } from './database-errors.ts';

/**
 * Lets concurrent requests share commits. A statement never has two commands with one key, because `UPDATE … FROM`
 * would apply only one of them. A statement that fails because of one row is repeated row by row; one whose connection
 * broke is sent again, and so is one after which `run` throws ResultLost.
 */
export class StatementGather<Command, Answer> extends Gather<Command, Answer> {
  constructor(
    run: (commands: readonly Command[]) => Promise<readonly (Answer | typeof AGAIN)[]>,
    options: Omit<GatherOptions<Command, Answer>, 'isLost'>,
  ) {
    const isLost = (error: unknown) => error instanceof ResultLost || isResultLost(error);
    super(run, { maxWaitMs: MAX_WAIT_MS, isAboutOne: isAboutOneRow, ...options, isLost });
  }
}

const MAX_WAIT_MS = 5_000;
