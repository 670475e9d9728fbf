import Router from '@koa/router';
import type { z } from 'zod';
import type { ProblemCode } from './problem.ts';

/**
 * What a route is to those who call it. Its router mounts it and the OpenAPI document tells it, both from this description,
 * with the very schemas that requests are validated with.
 */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** Parameters in braces, as OpenAPI writes them. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** What proves who is calling. */
  readonly credential: 'apiKey' | 'operator' | 'serviceSignature' | 'none';
  /** Parameters of the path, by name. */
  readonly parameters?: Readonly<Record<string, z.ZodType>>;
  readonly query?: z.ZodObject;
  /** Request headers besides the credential's; those that the schema calls optional need not be sent. */
  readonly headers?: Readonly<Record<string, z.ZodType>>;
  readonly body?: z.ZodType;
  /** Successes by HTTP status. */
  readonly answers: Readonly<Record<number, RouteAnswer>>;
  /** Refusals, each with the status of its code. */
  readonly codes: readonly ProblemCode[];
  /** What a refusal says of the request's effect, by HTTP status: what was stored, and whether to send it again. */
  readonly promises?: Readonly<Record<number, string>>;
}

/** One success; without a schema it has no body. */
export interface RouteAnswer {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Unset: application/json. */
  readonly mediaType?: string;
  readonly headers?: Readonly<Record<string, z.ZodType>>;
}

/** A router to which `/Oct` and `/oct/` are not `/oct`: whatever guards a path outside, such as a proxy's rule, sees the one spelling. */
export function createRouter(): Router {
  return new Router({ sensitive: true, strict: true });
}

/** The path as @koa/router reads it: `/oct/{requestId}` → `/oct/:requestId`. */
export function routerPath({ path }: Route): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
