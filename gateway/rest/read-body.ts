import type { Context } from 'koa';
import type { z } from 'zod';
import { readBody as readBytes } from '../body.ts';
import { demandJson } from '../demand-json.ts';
import { StrictJsonRefusal } from '../json-structure.ts';
import { type FieldError, Problem } from '../problem.ts';
import { type JsonObject, parseStrictJson, plainInteger } from '../strict-json.ts';
import { identityOf } from './authenticate.ts';
import { fieldErrors, fieldName, firstOfEach } from './field-errors.ts';

const MOST_BYTES = 64 * 1024;
const TIMEOUT_MS = 5_000;
/** The largest body is a contract of 1 000 terminals and 200 currencies; the most names are of a hold with 20 pairs of metadata. */
const JSON_BOUNDS = { maxValues: 2_000, maxNames: 100, maxNameLength: 256, maxDepth: 20 } as const;
/** A client that has more wrong is not helped by reading of all of it. */
const MOST_ERRORS = 50;

/** A body that may name its merchant. */
type Schema = z.ZodType<{ merchantId?: string | undefined }>;

/** Reads and parses the body of a merchant's POST. Throws what readJsonBytes() and parseBody() throw. */
export async function readBody<S extends Schema>(ctx: Context, schema: S): Promise<z.output<S>> {
  return parseBody(ctx, await readJsonBytes(ctx), schema);
}

/** Reads the body byte for byte. Throws Problem UNSUPPORTED_MEDIA_TYPE, and BodyRefusal: too large, too slow, broken off. */
export async function readJsonBytes(ctx: Context, maxBytes: number = MOST_BYTES): Promise<Buffer> {
  demandJson(ctx);
  return readBytes(ctx.req, { maxBytes, timeoutMs: TIMEOUT_MS });
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

/** Reads the fields of a body: strict JSON, then the schema. Throws Problem INVALID_REQUEST with the fields at fault. */
export function parseFields<S extends z.ZodType>(bytes: Buffer, schema: S): z.output<S> {
  const faults: FieldError[] = [];
  const json = parse(bytes, faults);
  const result = schema.safeParse(json);
  if (!result.success) faults.push(...fieldErrors(result.error.issues));
  if (faults.length > 0 || !result.success) {
    throw invalid('The body is not valid.', firstOfEach(faults).slice(0, MOST_ERRORS));
  }
  return result.data;
}

/**
 * No number of this API is anything but an integer written as one: `5.0` and `1e2` are what they look like to some readers only,
 * so they are faults.
 */
function parse(bytes: Buffer, faults: FieldError[]): JsonObject {
  try {
    return parseStrictJson(bytes, JSON_BOUNDS, (source, _depth, path) => {
      if (plainInteger(source) !== undefined || faults.length === MOST_ERRORS) return;
      faults.push({ field: fieldName(path()), message: 'must be a plain integer' });
    });
  } catch (error) {
    if (!(error instanceof StrictJsonRefusal)) throw error;
    const field = error.field === undefined ? 'body' : fieldName([error.field]);
    throw invalid('The body is not valid JSON.', [{ field, message: error.message }]);
  }
}

function invalid(detail: string, errors: FieldError[]): Problem {
  return new Problem('INVALID_REQUEST', { detail, errors });
}
