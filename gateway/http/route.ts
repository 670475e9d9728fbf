import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { z } from 'zod';
import type { ProblemCode } from './refusals.ts';
import type { Scope } from './scopes.ts';

/**
 * A route as its callers see it. Its router mounts it and the OpenAPI document is built from this description, with the
 * same schemas that requests are validated with.
 */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** The effect, the refusals and the answer, beyond the summary; sentences. */
  readonly description: string;
  /** The effect of a request: none (READ), an operation, or another change. Unset: a GET reads, and others change. */
  readonly effect?: 'READ' | 'OPERATION' | 'CHANGE';
  /** Of a POST that changes something: what a second one does. */
  readonly again?: string;
  /** The caller's credential. */
  readonly credential: 'apiKey' | 'operator' | 'serviceSignature' | 'senderSignature' | 'none';
  /** The scope that an API key needs for it. */
  readonly scope?: Scope;
  /** Path parameters, by name. */
  readonly parameters?: Schemas;
  readonly query?: z.ZodObject;
  /** Request headers besides the credential's; those with an optional schema need not be sent. */
  readonly headers?: Schemas;
  readonly body?: z.ZodType;
  /** Successes by HTTP status. */
  readonly answers: Readonly<Record<number, RouteAnswer>>;
  /** Refusals, each with the status of its code. */
  readonly codes: readonly ProblemCode[];
  /** The promise of a refusal by its HTTP status: what was stored, and whether to repeat the request. */
  readonly promises?: Readonly<Record<number, string>>;
}

/** One success; without a schema it has no body. */
export interface RouteAnswer {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Unset: application/json. */
  readonly mediaType?: string;
  /** Another form, which the request's Accept asks for. */
  readonly orText?: { readonly mediaType: string; readonly schema: z.ZodType; readonly description: string };
  /** Of a stream of events: the data of each. */
  readonly event?: z.ZodType;
  readonly headers?: Schemas;
}

/** The effect of a route's requests. */
export function effectOf({ method, effect }: Pick<Route, 'method' | 'effect'>): NonNullable<Route['effect']> {
  return effect ?? (method === 'get' ? 'READ' : 'CHANGE');
}

export type Schemas = Readonly<Record<string, z.ZodType>>;

/** A route in a table of routes. mountRoutes() calls the handler with what it demands. */
export interface TableRoute extends Route {
  readonly handler: (call: never) => unknown;
  /** Checks the raw body before it is parsed. Throws Problem to refuse it. */
  readonly checkBytes?: (call: never, bytes: Buffer) => Promise<void>;
  /** Unset: that of readJsonBytes(). */
  readonly maxBodyBytes?: number;
}

/** The values that a route's schemas read from a request: a missing field is absent, never undefined. */
export interface Input<Q extends z.ZodObject, P extends Schemas, B extends z.ZodType> {
  readonly query: Present<z.output<Q>>;
  readonly params: { readonly [Name in keyof P]: string };
  readonly body: Present<z.output<B>>;
}

/** The same fields, none of them undefined. */
export type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/**
 * Mounts routes in the order of their table: the first whose path matches answers. The answer is what the handler
 * returns, under the first status of the route's answers, unless the handler has set a body itself. A request passes
 * the `guards` before it is read; `callOf` makes what the handler is called with.
 */
export function mountRoutes(
  router: Router,
  routes: Readonly<Record<string, TableRoute>>,
  guards: (route: TableRoute) => readonly Middleware[],
  callOf: (ctx: Context, route: TableRoute) => object | Promise<object>,
): Router {
  for (const route of Object.values(routes)) {
    const [status] = Object.keys(route.answers).map(Number) as [number];
    // `/oct/{requestId}` is `/oct/:requestId` to @koa/router.
    const path = route.path.replace(/\{(\w+)\}/g, ':$1');
    router[route.method](path, ...guards(route), async (ctx) => {
      const body = await route.handler((await callOf(ctx, route)) as never);
      if (ctx.body !== undefined) return;
      ctx.status = status;
      if (body !== undefined) ctx.body = body;
    });
  }
  return router;
}

/**
 * A router that matches paths exactly: `/Oct` and `/oct/` are not `/oct`, so a rule of a proxy on a path covers the
 * route.
 */
export function createRouter(): Router {
  return new Router({ sensitive: true, strict: true });
}
