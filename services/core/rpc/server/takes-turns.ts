import type { Interceptor } from '@connectrpc/connect';
import { HoldfastError } from '../../domain/refusal.ts';
import { isStatementTimeout } from '../../storage/database-errors.ts';
import { accountOf } from './admission.ts';
import type { ReadTurns } from './read-turns.ts';

/** Runs lists and look-ups in turns. Throws UNAVAILABLE when a statement of one took too long. */
export function takesTurns(turns: ReadTurns): Interceptor {
  return (next) => (request) => {
    if (request.stream || !/^(Get|List)[A-Z]/.test(request.method.name)) return next(request);
    return turns.run(accountOf(request), async () => {
      try {
        return await next(request);
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        const message = 'the read took too long and was stopped; ask for less';
        throw new HoldfastError('UNAVAILABLE', message, { retryAfterS: 1, cause: error });
      }
    });
  };
}
