import { STATUS_CODES } from 'node:http';
import type { Context, Middleware } from 'koa';
import { errorFields, type Log } from '../../platform/log.ts';
import { isServiceError, Problem, type ProblemCode, problemOfRpc } from './problem.ts';

/**
 * Answers every error thrown below it, and every request that no route answered, with a problem (RFC 9457). `paths` are those of the
 * routes, with their parameters in braces.
 */
export function answerProblems(log: Log, paths: readonly string[]): Middleware {
  const explainPath = explainUnknownPath(paths);
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
  if (code === 'NOT_FOUND') return new Problem(code, { ...details, detail: explainPath(ctx.path) });
  if (code !== 'METHOD_NOT_ALLOWED') return problem;
  const allowed = details.headers?.Allow ?? ctx.response.get('Allow');
  const detail = `This path takes ${allowed || 'other methods'}. The routes are listed at /docs.`;
  return new Problem(code, { ...details, detail });
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isServiceError(error)) return problemOfRpc(error);
  return new Problem('INTERNAL', { cause: error });
}

/** Says in a sentence what is wrong with a path that has no route; the path itself is not repeated. */
type ExplainPath = (path: string) => string;

function explainUnknownPath(paths: readonly string[]): ExplainPath {
  const patterns = paths.map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`, 'i') }));
  return (path) => {
    const bare = path.replace(/\/+$/, '');
    const meant = patterns.find(({ pattern }) => pattern.test(bare));
    if (meant === undefined) return 'There is no such path. The routes are listed at /docs.';
    const fault = bare === path ? 'Paths are written exactly so' : 'The path has no slash at its end';
    return `${fault}: ${meant.path}. The routes are listed at /docs.`;
  };
}
