import type { Context } from 'koa';
import type { z } from 'zod';
import { readBody as readBytes } from '../body.ts';
import { demandJson } from '../demand-json.ts';
import { type FieldError, Problem } from '../problem.ts';
import { JsonNumber, parseStrictJson, type StrictJson, StrictJsonRefusal } from '../strict-json.ts';
import { identityOf } from './authenticate.ts';
import { fieldErrors, fieldName, firstOfEach } from './field-errors.ts';

const BOUNDS = { maxBytes: 64 * 1024, timeoutMs: 5_000 } as const;

/** A body that may name its merchant. */
type Schema = z.ZodType<{ merchantId?: string | undefined }>;

/** Reads and parses the body of a merchant's POST. Throws what readJsonBytes() and parseBody() throw. */
export async function readBody<S extends Schema>(ctx: Context, schema: S): Promise<z.output<S>> {
  return parseBody(ctx, await readJsonBytes(ctx), schema);
}

/** Reads the body byte for byte. Throws Problem UNSUPPORTED_MEDIA_TYPE, and BodyRefusal: too large, too slow, broken off. */
export async function readJsonBytes(ctx: Context): Promise<Buffer> {
  demandJson(ctx);
  return readBytes(ctx.req, BOUNDS);
}

/**
 * Reads the fields of a merchant's body. Throws Problem: INVALID_REQUEST with each field at fault,
 * FORBIDDEN when the body names a merchant that the API key does not.
 */
export function parseBody<S extends Schema>(ctx: Context, bytes: Buffer, schema: S): z.output<S> {
  const data = parseFields(bytes, schema);
  const { merchantId } = data;
  if (merchantId !== undefined && merchantId !== identityOf(ctx).merchantId) {
    throw new Problem('FORBIDDEN', { detail: 'merchantId is not the merchant that the API key names.' });
  }
  return data;
}

/** Reads the fields of a body: strict JSON, then the schema. Throws Problem INVALID_REQUEST with each field at fault. */
export function parseFields<S extends z.ZodType>(bytes: Buffer, schema: S): z.output<S> {
  const json = parse(bytes);
  const faults: FieldError[] = [];
  const result = schema.safeParse(plain(json, [], faults));
  if (!result.success) faults.push(...fieldErrors(result.error.issues));
  if (faults.length > 0 || !result.success) throw invalid('The body is not valid.', firstOfEach(faults));
  return result.data;
}

function parse(bytes: Buffer): StrictJson {
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof StrictJsonRefusal)) throw error;
    const field = error.field === undefined ? 'body' : fieldName([error.field]);
    throw invalid('The body is not valid JSON.', [{ field, message: error.message }]);
  }
}

/**
 * The values behind strict JSON. No number of this API is anything but an integer written as one: `5.0` and `1e2` are
 * what they look like to some readers only, so they are faults.
 */
function plain(json: StrictJson, path: string[], faults: FieldError[]): unknown {
  if (json instanceof JsonNumber) {
    if (json.integer !== undefined) return json.integer;
    faults.push({ field: fieldName(path), message: 'must be a plain integer' });
    return undefined;
  }
  if (Array.isArray(json)) return json.map((item, index) => plain(item, [...path, String(index)], faults));
  if (json === null || typeof json !== 'object') return json;
  return Object.fromEntries(Object.entries(json).map(([name, item]) => [name, plain(item, [...path, name], faults)]));
}

function invalid(detail: string, errors: FieldError[]): Problem {
  return new Problem('INVALID_REQUEST', { detail, errors });
}
