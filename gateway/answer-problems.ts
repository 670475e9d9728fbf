import { STATUS_CODES } from 'node:http';
import type { Middleware } from 'koa';
import { errorFields, type Log } from '../proto/log.ts';
import { BodyRefusal } from './body.ts';
import { isServiceError, Problem, type ProblemCode, problemOfRpc } from './problem.ts';

/** Makes every refusal below it, and every answer that nobody gave, a problem (RFC 9457). */
export function answerProblems(log: Log): Middleware {
  return async (ctx, next) => {
    try {
      await next();
      if (ctx.body === undefined && UNANSWERED[ctx.status]) throw new Problem(UNANSWERED[ctx.status] as ProblemCode);
    } catch (error) {
      const problem = problemOf(error);
      if (problem.status === 500) log.error('request failed', errorFields(problem.details.cause ?? error));
      ctx.state.requestId = problem.details.requestId ?? ctx.state.requestId;
      ctx.status = problem.status;
      ctx.message = STATUS_CODES[problem.status] ?? '';
      // A bound of core's is not the limit that these headers tell of.
      if (problem.code === 'RATE_LIMITED') for (const name of RATE_LIMIT_HEADERS) ctx.remove(name);
      ctx.set(problem.headers());
      ctx.body = JSON.stringify(problem);
      ctx.type = 'application/problem+json';
    }
  };
}

const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** What routers leave behind when no route matches. */
const UNANSWERED: Readonly<Record<number, ProblemCode>> = {
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  501: 'METHOD_NOT_ALLOWED',
};

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
