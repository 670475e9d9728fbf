import { type AGAIN, Gather, type GatherOptions } from '../../../proto/gather.ts';
import { isAboutOneRow, isResultLost } from './database-errors.ts';

/**
 * Lets concurrent requests share commits. A statement never carries two commands with one key: `UPDATE … FROM` would apply only
 * one of them. One that fails because of one of its rows is repeated row by row, and one whose connection broke is sent again.
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
