import { STATUS_CODES } from 'node:http';
import type { Context, Middleware } from 'koa';
import { errorFields, type Log } from '../../platform/log.ts';
import { isServiceError, Problem, type ProblemCode, problemOfRpc } from './problem.ts';
import { BodyRefusal } from './raw-body.ts';
import type { ExplainPath } from './unknown-path.ts';

/** Answers every error thrown below it, and every request that no route answered, with a problem (RFC 9457). */
export function answerProblems(log: Log, explainPath: ExplainPath): Middleware {
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
  if (error instanceof BodyRefusal) return problemOfBody(error);
  if (isServiceError(error)) return problemOfRpc(error);
  return new Problem('INTERNAL', { cause: error });
}

/** The rest of the body was not read, so the connection cannot carry another request. */
function problemOfBody({ reason }: BodyRefusal): Problem {
  const headers = { Connection: 'close' };
  if (reason === 'too-large') return new Problem('PAYLOAD_TOO_LARGE', { headers });
  return new Problem(reason === 'too-slow' ? 'REQUEST_TIMEOUT' : 'INVALID_REQUEST', { headers });
}
