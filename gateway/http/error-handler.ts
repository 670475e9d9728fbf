import { STATUS_CODES } from 'node:http';
import type { Context, Middleware } from 'koa';
import { errorFields, type Log } from '../../platform/log.ts';
import type { Exchange } from './exchange.ts';
import { isServiceError, Problem, problemOfRpc } from './problem.ts';
import type { ProblemCode } from './refusals.ts';
import type { Route } from './route.ts';

/** A route, its path with the parameters in braces, and what paths like it match, in any case. */
interface Known extends Pick<Route, 'method' | 'path'> {
  readonly pattern: RegExp;
}

/** The request of an error. Koa cannot read the path of every request, so it is read only where it is needed. */
type Asked = Pick<Context, 'method' | 'path'>;

/** Makes the problem (RFC 9457) that answers an error of an exchange; a router knows the `allowed` methods. */
export type ToProblem = (error: unknown, asked: Asked, exchange: Exchange, allowed?: string) => Problem;

/** Logs errors that are our fault. `routes` are all routes, for hints about unknown paths. */
export function openProblems(log: Log, routes: readonly Pick<Route, 'method' | 'path'>[]): ToProblem {
  const known = routes.map(({ method, path }) => ({ method, path, pattern: patternOf(path) }));
  return (error, asked, exchange, allowed) => {
    const problem = withDetail(problemOf(error), asked, known, allowed);
    if (problem.status === 500) {
      const { httpRequestId } = exchange;
      log.error('request failed', { httpRequestId, ...errorFields(problem.details.cause ?? error) });
    }
    exchange.requestId = problem.details.requestId ?? exchange.requestId;
    return problem;
  };
}

/** The media type of a problem. */
export const PROBLEM_TYPE = 'application/problem+json';

/** Answers every error thrown below it, and every request that no route answered, with a problem. */
export function answerProblems(toProblem: ToProblem): Middleware {
  return async (ctx, next) => {
    try {
      await next();
      if (ctx.body === undefined && UNANSWERED[ctx.status]) throw new Problem(UNANSWERED[ctx.status] as ProblemCode);
    } catch (error) {
      const problem = toProblem(error, ctx, ctx.state as Exchange, ctx.response.get('Allow'));
      ctx.status = problem.status;
      ctx.message = STATUS_CODES[problem.status] ?? '';
      // These headers describe the gateway's limit; the refusal may be about core's.
      if (problem.code === 'RATE_LIMITED') for (const name of RATE_LIMIT_HEADERS) ctx.remove(name);
      ctx.set(problem.headers());
      ctx.body = JSON.stringify(problem);
      ctx.type = PROBLEM_TYPE;
    }
  };
}

const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** The status that routers set when no route matches, and the code for it. */
const UNANSWERED: Readonly<Record<number, ProblemCode>> = {
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  501: 'METHOD_NOT_ALLOWED',
};

/** Adds what routers do not say: the path that was meant, or the methods that the path takes. */
function withDetail(problem: Problem, asked: Asked, routes: readonly Known[], allowed?: string): Problem {
  const { code, details } = problem;
  if (details.detail !== undefined) return problem;
  if (code !== 'NOT_FOUND' && code !== 'METHOD_NOT_ALLOWED') return problem;
  const near = nearPaths(asked, routes);
  const detail =
    code === 'NOT_FOUND'
      ? (rightSpelling(asked.path, routes) ?? `There is no such path.${near}`)
      : `This path takes ${details.headers?.Allow ?? (allowed || 'other methods')}.${near}`;
  return new Problem(code, { ...details, detail: `${detail} The routes are listed at /docs.` });
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isServiceError(error)) return problemOfRpc(error);
  return new Problem('INTERNAL', { cause: error });
}

/** Suggests the route's spelling for a path that differs in case or a final slash. The path itself is not repeated. */
function rightSpelling(path: string, routes: readonly Known[]): string | undefined {
  // From the first slash of a row on; from each, a path of slashes would take the square of its length.
  const bare = path.replace(/(?<!\/)\/+$/, '');
  const meant = routes.find(({ pattern }) => pattern.test(bare))?.path;
  if (meant === undefined) return undefined;
  return `${bare === path ? 'Paths are written exactly so' : 'The path has no slash at its end'}: ${meant}.`;
}

/** The paths about the same thing that take this method, as far as they are a hint. */
function nearPaths({ path, method }: Asked, routes: readonly Known[]): string {
  const near = routes.filter((route) => route.method === method.toLowerCase() && rootOf(route.path) === rootOf(path));
  if (near.length === 0 || near.length > MOST_HINTS) return '';
  return ` ${method} is for ${near.map((route) => route.path).join(', ')}.`;
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`, 'i');
}

const MOST_HINTS = 6;

/** The beginning of paths about one resource: `/operator/holds`, `/preauthorization`. */
function rootOf(path: string): string | undefined {
  return /^(?:\/operator)?\/[^/]+/.exec(path)?.[0];
}
