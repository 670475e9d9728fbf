import type { Interceptor } from '@connectrpc/connect';
import { HoldfastError } from '../../domain/refusal.ts';
import { isStatementTimeout } from '../../storage/database-errors.ts';
import { accountOf } from './admission.ts';
import { goneKey } from './call-patience.ts';
import { callerKey } from './caller.ts';
import { openReadTurns } from './read-turns.ts';

/**
 * Runs lists and look-ups in turns. A look-up reads by an index, so it has turns of its own and never waits behind a
 * list; the overview counts, and is none. Throws UNAVAILABLE when a statement of one took too long.
 */
export function takesTurns(waitMs?: number): Interceptor {
  const open = (atOnce = 1) => openReadTurns({ atOnce, waitMs });
  const [lists, ownLists] = [open(), open(OWN_LISTS)];
  const [lookUps, ownLookUps] = [open(), open(OWN_LOOK_UPS)];
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
    const signal = request.contextValues.get(goneKey) ?? (() => request.signal);
    if (isLookUp) return (role === 'gateway' ? lookUps : ownLookUps).run(account, read, signal);
    if (role === 'gateway') return lists.run(account, read, signal);
    return lists.run(account, () => ownLists.run(role ?? '', read, signal), signal);
  };
}

/** Look-ups of an internal service or an operator: each asks for many merchants. */
const OWN_LOOK_UPS = 4;

/** Lists of all internal services, and of all operators. The rest of the connections for lists is the merchants'. */
const OWN_LISTS = 2;
