import type { Context } from 'koa';
import { Counter, type Registry } from 'prom-client';
import { Problem } from '../http/problem.ts';
import { BodyRefusal } from '../http/raw-body.ts';

/** Counts the requests to the relay by kind and HTTP status. */
export function countOutcomes(
  registry: Registry,
  answer: (ctx: Context) => Promise<void>,
): (ctx: Context) => Promise<void> {
  const requests = new Counter({
    name: 'holdfast_relay_requests_total',
    help: 'Requests to the webhook relay, by kind and HTTP status of the answer.',
    labelNames: ['kind', 'status'],
    registers: [registry],
  });
  const count = (ctx: Context, status: number) => {
    const [, kind = 'none'] = /^\/webhook\/processor\/(payment|oct)\//.exec(ctx.path) ?? [];
    requests.inc({ kind, status });
  };
  return async (ctx) => {
    try {
      await answer(ctx);
      count(ctx, ctx.status);
    } catch (error) {
      count(ctx, statusOf(error));
      throw error;
    }
  };
}

function statusOf(error: unknown): number {
  if (error instanceof Problem) return error.status;
  return error instanceof BodyRefusal ? error.httpStatus : 500;
}
