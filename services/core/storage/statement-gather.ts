import { Gather, type GatherOptions } from '../../../proto/gather.ts';

/**
 * Lets concurrent requests share commits. A statement never carries two commands with one key: `UPDATE … FROM` would apply only
 * one of them. One that fails because of one of its rows is repeated row by row.
 */
export class StatementGather<Command, Answer> extends Gather<Command, Answer> {
  constructor(
    run: (commands: readonly Command[]) => Promise<readonly Answer[]>,
    options: Omit<GatherOptions<Command>, 'isAboutOne'>,
  ) {
    super(run, { ...options, isAboutOne: isAboutOneRow });
  }
}

/**
 * Data exceptions (22), integrity violations (23) and assertions of ours are one row's fault; deadlocks (40P01) and serialization
 * failures (40001) go away row by row.
 */
function isAboutOneRow(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && /^(22...|23...|40P01|40001|ERR_ASSERTION)$/.test(code);
}
