/** The descriptions of merchants' and operators' routes, and the values of their requests. */
import type { Context } from 'koa';
import { z } from 'zod';
import { plainWords } from '../../platform/plain-words.ts';
import type { Core } from '../core/client.ts';
import { fieldErrors, fieldName, firstOfEach } from '../http/field-errors.ts';
import { Problem } from '../http/problem.ts';
import { READ, READ_ONE, WRITE, WRITE_ONE } from '../http/problem-codes.ts';
import { statusOf } from '../http/refusals.ts';
import { effectOf, type Input, type Route, type Schemas, type TableRoute } from '../http/route.ts';
import { CHANGE_PROMISES, makeChange } from './change.ts';
import { notRequestId } from './identifiers.ts';
import { endpointId, merchantId } from './request-fields.ts';

/** Method and path of a route: `GET /refund/{requestId}`. */
export type Target = `${Uppercase<Route['method']>} /${string}`;

/** All path parameters. */
const PARAMETERS = {
  merchantId,
  endpointId,
  endpointKind: z
    .union([z.literal('webhook'), endpointId])
    .meta({ description: 'Which endpoint: webhook (or default), internal, or the id of a further one' }),
  requestId: uuid('operation'),
  deliveryId: uuid('delivery'),
  quarantineId: uuid('notification that was set aside'),
  apiKeyId: uuid('key'),
  signingSecretId: uuid('secret'),
  senderId: uuid('sender'),
};

/** An identifier, in any case (RFC 9562). */
function uuid(what: string) {
  const examples = ['0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'];
  return z
    .guid()
    .toLowerCase()
    .meta({ description: `Names the ${what} (UUIDv7)`, examples });
}

type Name = keyof typeof PARAMETERS;
type NamesIn<T extends string> = T extends `${string}{${infer N extends Name}}${infer Rest}`
  ? N | NamesIn<Rest>
  : never;

/**
 * The description of a route without its tag and target, and its handler. Unset `codes`: those of every route that
 * reads, or changes, one thing named by the path, or several.
 */
export type Described<Call, T extends Target, Q extends z.ZodObject, B extends z.ZodType> = Pick<
  TableRoute,
  'summary' | 'description' | 'effect' | 'again' | 'headers' | 'answers' | 'promises' | 'maxBodyBytes'
> &
  Partial<Pick<Route, 'codes' | 'scope'>> & {
    readonly query?: Q;
    readonly body?: B;
    checkBytes?(call: Call, bytes: Buffer): Promise<void>;
    readonly handler: (call: Call & Input<Q, Pick<typeof PARAMETERS, NamesIn<T>>, B>) => unknown;
  };

/** Makes the function that describes the routes of one sort of callers. Their tags begin with `tags`. */
export function describing<Call extends { readonly core: Core }>(credential: Route['credential'], tags = '') {
  return <T extends Target, Q extends z.ZodObject, B extends z.ZodType>(
    tag: string,
    target: T,
    described: Described<Call, T, Q, B>,
  ): TableRoute => {
    const [method, path] = target.split(' ') as [string, string];
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name as Name);
    const [several, one] = method === 'GET' ? [READ, READ_ONE] : [WRITE, WRITE_ONE];
    const route = {
      credential,
      tag: tags + tag,
      method: method.toLowerCase() as Route['method'],
      path,
      ...(names.length > 0 && { parameters: Object.fromEntries(names.map((name) => [name, PARAMETERS[name]])) }),
      ...described,
      codes: withScope(credential, described.codes ?? (names.length > 0 ? one : several)),
    };
    if (effectOf(route) !== 'CHANGE') return route;
    return {
      ...route,
      codes: [...route.codes, 'OUTCOME_UNKNOWN'],
      promises: CHANGE_PROMISES,
      handler: (call: Parameters<typeof described.handler>[0]) => makeChange(call.core, () => described.handler(call)),
    };
  };
}

/** An API key may lack the scope of any route, or come from an address that it does not allow. */
function withScope(credential: Route['credential'], codes: Route['codes']): Route['codes'] {
  return credential === 'apiKey' && !codes.includes('FORBIDDEN') ? [...codes, 'FORBIDDEN'] : codes;
}

/**
 * Reads what a request brings, in this order: the query of a GET, the path parameters, the body. Throws
 * INVALID_REQUEST, the route's own 404 code for a malformed path parameter, and what `readBody` throws.
 */
export async function readInput(
  ctx: Context,
  route: Route,
  readBody: (schema: z.ZodType) => Promise<unknown>,
): Promise<Input<z.ZodObject, Schemas, z.ZodType>> {
  const query = route.method === 'get' ? readQuery(ctx, route.query ?? NO_QUERY) : {};
  const params = readParams(ctx, route);
  return { query, params, body: (route.body && (await readBody(route.body))) as object };
}

const NO_QUERY = z.strictObject({});
/** No route has so many. Each unknown one is compared with the known ones. */
const MOST_PARAMETERS = 50;

/** Reads the query parameters. Throws Problem INVALID_REQUEST naming each that is unknown, repeated or malformed. */
function readQuery<S extends z.ZodType>(ctx: Context, schema: S): z.output<S> {
  const parameters = [...new URLSearchParams(ctx.querystring)];
  if (parameters.length > MOST_PARAMETERS)
    throw new Problem('INVALID_REQUEST', { detail: `The query has more than ${MOST_PARAMETERS} parameters.` });
  const names = parameters.map(([name]) => name);
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  const result = schema.safeParse(Object.fromEntries(parameters), { error: plainWords });
  const errors = [...repeated].map((name) => ({ field: fieldName([name]), message: 'is given more than once' }));
  if (!result.success) errors.push(...fieldErrors(result.error.issues, schema));
  if (errors.length > 0 || !result.success) {
    throw new Problem('INVALID_REQUEST', { detail: 'The query is not valid.', errors: firstOfEach(errors) });
  }
  return result.data;
}

/** A malformed parameter is answered like a resource that does not exist, without a call to core. */
function readParams(ctx: Context, { parameters = {}, codes }: Route): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, schema] of Object.entries(parameters)) {
    const result = schema.safeParse(ctx.params[name]);
    if (!result.success) {
      const code = codes.find((code) => statusOf(code) === 404) ?? 'NOT_FOUND';
      throw new Problem(code, { detail: name === 'merchantId' ? undefined : notRequestId(ctx.params[name]) });
    }
    params[name] = result.data as string;
  }
  return params;
}
