import type { Context } from 'koa';
import type { z } from 'zod';
import { plainWords } from '../../platform/plain-words.ts';
import { fieldErrors, fieldName, firstOfEach } from './field-errors.ts';
import { Problem } from './problem.ts';

/** Reads the query parameters. Throws Problem INVALID_REQUEST naming each that is unknown, repeated or malformed. */
export function readQuery<S extends z.ZodType>(ctx: Context, schema: S): z.output<S> {
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
