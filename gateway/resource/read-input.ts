import assert from 'node:assert/strict';
import type { Context } from 'koa';
import { z } from 'zod';
import { plainWords } from '../../platform/plain-words.ts';
import { fieldErrors, fieldName, firstOfEach } from '../http/field-errors.ts';
import { Problem, statusOf } from '../http/problem.ts';
import type { Input, Route, Schemas } from '../http/route.ts';
import { MERCHANT_ID, notRequestId, UUID } from './identifiers.ts';

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

/** Reads the query parameters. Throws Problem INVALID_REQUEST naming each that is unknown, repeated or malformed. */
function readQuery<S extends z.ZodType>(ctx: Context, schema: S): z.output<S> {
  const parameters = [...new URLSearchParams(ctx.querystring)];
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
  for (const name of Object.keys(parameters)) {
    const form = FORMS[name];
    assert(form, `the path parameter ${name} has a form`);
    const value: string = form === UUID ? ctx.params[name].toLowerCase() : ctx.params[name];
    if (!form.test(value)) {
      const code = codes.find((code) => statusOf(code) === 404) ?? 'NOT_FOUND';
      throw new Problem(code, { detail: form === UUID ? notRequestId(ctx.params[name]) : undefined });
    }
    params[name] = value;
  }
  return params;
}

const FORMS: Readonly<Record<string, RegExp>> = {
  merchantId: MERCHANT_ID,
  endpointKind: /^(webhook|internal)$/,
  requestId: UUID,
  deliveryId: UUID,
  quarantineId: UUID,
  apiKeyId: UUID,
  signingSecretId: UUID,
};
