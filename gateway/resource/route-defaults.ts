import type { ProblemCode } from '../http/problem.ts';
import { READ, READ_ONE, WRITE, WRITE_ONE } from '../http/problem-codes.ts';
import type { Route } from '../http/route.ts';

/** What a route is that does not say it: a GET, which refuses what all do that read, or change, one thing or several. */
export function routeDefaults({ method = 'get', parameters }: Partial<Pick<Route, 'method' | 'parameters'>>) {
  const [some, one] = method === 'get' ? [READ, READ_ONE] : [WRITE, WRITE_ONE];
  const codes: readonly ProblemCode[] = parameters === undefined ? some : one;
  return { method, codes };
}
