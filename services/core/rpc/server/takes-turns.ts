import type { Interceptor } from '@connectrpc/connect';
import { HoldfastError } from '../../domain/refusal.ts';
import { isStatementTimeout } from '../../storage/database-errors.ts';
import { accountOf } from './admission.ts';
import { callerKey } from './caller.ts';
import type { ReadTurns } from './read-turns.ts';

/**
 * Runs lists and look-ups in turns. A look-up reads by an index, so it has turns of its own and never waits behind a
 * list; the overview counts, and is none. Throws UNAVAILABLE when a statement of one took too long.
 */
export function takesTurns(turns: ReadTurns): Interceptor {
  return (next) => (request) => {
    if (request.stream || !/^(Get|List)[A-Z]/.test(request.method.name)) return next(request);
    const isLookUp = /^Get(?!Overview$)/.test(request.method.name);
    const role = request.contextValues.get(callerKey)?.role;
    const read = async () => {
      try {
        return await next(request);
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        const message = 'the read took too long and was stopped; ask for less';
        throw new HoldfastError('UNAVAILABLE', message, { retryAfterS: 1, cause: error });
      }
    };
    const account = accountOf(request);
    if (isLookUp) return turns.run(`look-ups of ${account}`, read, role === 'gateway' ? 1 : OWN_LOOK_UPS);
    if (role === 'gateway') return turns.run(`lists of ${account}`, read);
    return turns.run(`lists of ${account}`, () => turns.run(`lists of all: ${role}`, read, OWN_LISTS));
  };
}

/** Look-ups of an internal service or an operator: each asks for many merchants. */
const OWN_LOOK_UPS = 4;

/** Lists of all internal services, and of all operators. The rest of the connections for lists is the merchants'. */
const OWN_LISTS = 2;
