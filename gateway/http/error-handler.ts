import { STATUS_CODES } from 'node:http';
import type { Context, Middleware } from 'koa';
import { errorFields, type Log } from '../../platform/log.ts';
import { isServiceError, Problem, type ProblemCode, problemOfRpc } from './problem.ts';
import type { Route } from './route.ts';

/** A route, its path with the parameters in braces. */
type Known = Pick<Route, 'method' | 'path'>;

/**
 * Answers every error thrown below it, and every request that no route answered, with a problem (RFC 9457). `routes`
 * are all there are, for what it says about unknown paths.
 */
export function answerProblems(log: Log, routes: readonly Known[]): Middleware {
  const explainPath = explainUnknownPath(routes);
  return async (ctx, next) => {
    try {
      await next();
      if (ctx.body === undefined && UNANSWERED[ctx.status]) throw new Problem(UNANSWERED[ctx.status] as ProblemCode);
    } catch (error) {
      const problem = withDetail(problemOf(error), ctx, explainPath);
      if (problem.status === 500) {
        const { httpRequestId } = ctx.state;
        log.error('request failed', { httpRequestId, ...errorFields(problem.details.cause ?? error) });
      }
      ctx.state.requestId = problem.details.requestId ?? ctx.state.requestId;
      ctx.status = problem.status;
      ctx.message = STATUS_CODES[problem.status] ?? '';
      // These headers describe the gateway's limit; the refusal may be about core's.
      if (problem.code === 'RATE_LIMITED') for (const name of RATE_LIMIT_HEADERS) ctx.remove(name);
      ctx.set(problem.headers());
      ctx.body = JSON.stringify(problem);
      ctx.type = 'application/problem+json';
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
function withDetail(problem: Problem, ctx: Context, explainPath: ExplainPath): Problem {
  const { code, details } = problem;
  if (details.detail !== undefined) return problem;
  if (code !== 'NOT_FOUND' && code !== 'METHOD_NOT_ALLOWED') return problem;
  const allowed = details.headers?.Allow ?? ctx.response.get('Allow');
  const fault = code === 'NOT_FOUND' ? undefined : `This path takes ${allowed || 'other methods'}.`;
  return new Problem(code, { ...details, detail: `${explainPath(ctx, fault)} The routes are listed at /docs.` });
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isServiceError(error)) return problemOfRpc(error);
  return new Problem('INTERNAL', { cause: error });
}

/**
 * Says what is wrong with a path that has no route, or `fault`, and which paths were perhaps meant; the path itself is
 * not repeated.
 */
type ExplainPath = (ctx: Context, fault?: string) => string;

function explainUnknownPath(routes: readonly Known[]): ExplainPath {
  const patterns = routes.map(({ path }) => ({
    path,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`, 'i'),
  }));
  return ({ path, method }, fault) => {
    const bare = path.replace(/\/+$/, '');
    const meant = patterns.find(({ pattern }) => fault === undefined && pattern.test(bare))?.path;
    if (meant !== undefined) {
      return `${bare === path ? 'Paths are written exactly so' : 'The path has no slash at its end'}: ${meant}.`;
    }
    const near = routes.filter((route) => route.method === method.toLowerCase() && rootOf(route.path) === rootOf(path));
    const hint =
      near.length === 0 || near.length > MOST_HINTS
        ? ''
        : ` ${method} is for ${near.map((route) => route.path).join(', ')}.`;
    return (fault ?? 'There is no such path.') + hint;
  };
}

/** More paths than this are no hint. */
const MOST_HINTS = 6;

/** What paths about one thing begin with: `/operator/holds`, `/preauthorization`. */
function rootOf(path: string): string | undefined {
  return /^(?:\/operator)?\/[^/]+/.exec(path)?.[0];
}
