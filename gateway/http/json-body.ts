import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import type { z } from 'zod';
import { plainWords } from '../../platform/plain-words.ts';
import { fieldErrors, fieldName, firstOfEach } from './field-errors.ts';
import { type FieldError, Problem } from './problem.ts';
import { readBody } from './raw-body.ts';
import { type JsonObject, parseStrictJson, plainInteger, StrictJsonRefusal } from './strict-json.ts';

const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 5_000;
/**
 * The largest body is a contract with 1 000 terminals and 200 currencies; a hold with 20 metadata pairs has the most
 * names.
 */
export const JSON_BOUNDS = { maxValues: 2_000, maxNames: 100, maxNameLength: 256, maxDepth: 20 } as const;
/** More errors than this do not help the client. */
const MAX_ERRORS = 50;

/** Reads the body byte for byte. Throws UNSUPPORTED_MEDIA_TYPE, and what readBody() throws. */
export async function readJsonBytes(ctx: Context, maxBytes: number = MAX_BYTES): Promise<Buffer> {
  demandJson(ctx.req.headers);
  return readBody(ctx.req, { maxBytes, timeoutMs: TIMEOUT_MS });
}

/**
 * Reads the body of a command whose fields may all be left out: an absent body counts as `{}`. Throws what
 * readJsonBytes() throws.
 */
export async function readCommandBytes(ctx: Context, maxBytes?: number): Promise<Buffer> {
  const { headers } = ctx.req;
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  return isEmpty ? Buffer.from('{}') : readJsonBytes(ctx, maxBytes);
}

/** Throws UNSUPPORTED_MEDIA_TYPE unless the body is application/json in UTF-8 and not encoded (no gzip). */
export function demandJson(headers: IncomingHttpHeaders): void {
  if (!isJsonInUtf8(headers['content-type'] ?? ''))
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', {
      detail: 'The body must be JSON in UTF-8, sent with the header Content-Type: application/json.',
    });
  demandUncompressed(headers);
}

/**
 * Returns whether a media type is JSON. Parameters have no meaning for JSON (RFC 8259, section 11), and senders add
 * empty and unknown ones. Only a charset that is not UTF-8 says that the body cannot be read.
 */
function isJsonInUtf8(mediaType: string): boolean {
  const [type = '', ...parameters] = mediaType.toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  const charsets = parameters.filter((parameter) => /^\s*charset\s*=/.test(parameter));
  return charsets.every((charset) => /=\s*"?utf-?8"?\s*$/.test(charset));
}

/** Throws UNSUPPORTED_MEDIA_TYPE when the body is encoded (gzip). */
export function demandUncompressed(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding'] ?? '';
  if (encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', {
      detail: 'The body must not be compressed: leave out Content-Encoding.',
    });
  }
}

/** Parses a body: strict JSON, then the schema. Throws Problem INVALID_REQUEST with the fields at fault. */
export function parseJsonBody<S extends z.ZodType>(bytes: Buffer, schema: S): z.output<S> {
  const numbers: FieldError[] = [];
  const json = parse(bytes, numbers);
  const result = schema.safeParse(json, { error: plainWords });
  const errors = result.success ? [] : fieldErrors(result.error.issues, schema);
  // The schema knows what the number means, so where it also objects, its words are better.
  const loose = numbers.filter(({ field }) => !errors.some((error) => error.field === field));
  const faults = firstOfEach([...loose, ...errors]).slice(0, MAX_ERRORS);
  if (faults.length > 0 || !result.success) throw invalid('The body is not valid.', faults);
  return result.data;
}

/**
 * Every number of this API is a plain integer. `5.0` and `1e2` are faults, because parsers disagree about whether they
 * are integers.
 */
function parse(bytes: Buffer, faults: FieldError[]): JsonObject {
  try {
    return parseStrictJson(bytes, JSON_BOUNDS, (source, _depth, path) => {
      if (plainInteger(source) !== undefined || faults.length === MAX_ERRORS) return;
      faults.push({
        field: fieldName(path()),
        message: 'must be a whole number, written without a fraction or an exponent',
      });
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
