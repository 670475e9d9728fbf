import { SIGNED_FIELDS, type SignedFields } from '../../client/webhooks/signature.ts';
import { fieldName } from '../http/field-errors.ts';
import { type FieldError, Problem } from '../http/problem.ts';
import { type JsonObject, parseStrictJson, StrictJsonRefusal } from '../http/strict-json.ts';
import { FORMS, GRAMMAR } from '../resource/identifiers.ts';

/**
 * Reads the five signed fields as text. Other fields are ignored, unless a parser that ignores case would take one of
 * them for a signed field. Throws INVALID_REQUEST naming each fault.
 */
export function parseNotification(body: Buffer): SignedFields {
  const { json, amountSource } = parse(body);
  const fields = {} as Record<keyof SignedFields, string>;
  const errors: FieldError[] = lookalikes(json);
  for (const name of SIGNED_FIELDS) {
    const value = Object.hasOwn(json, name) ? json[name] : undefined;
    const text = name === 'amount' && typeof value === 'number' ? amountSource : value;
    if (typeof text === 'string' && GRAMMAR[name].test(text)) fields[name] = text;
    else errors.push({ field: name, message: value === undefined ? 'is required' : FORMS[name] });
  }
  if (errors.length > 0) throw new Problem('INVALID_REQUEST', { detail: 'The notification is not valid.', errors });
  return fields;
}

/**
 * Senders may add fields. Distinct names cost JSON.parse several times as much as values, so they have a bound of their
 * own.
 */
export const JSON_BOUNDS = { maxValues: 2_000, maxNames: 500, maxNameLength: 256, maxDepth: 100 } as const;

/** The amount's source text was signed: 10.50 is not 10.5. */
function parse(body: Buffer): { json: JsonObject; amountSource: string | undefined } {
  let amountSource: string | undefined;
  try {
    const json = parseStrictJson(body, JSON_BOUNDS, (source, depth, path) => {
      if (depth === 1 && path()[0] === 'amount') amountSource = source;
    });
    return { json, amountSource };
  } catch (error) {
    if (!(error instanceof StrictJsonRefusal)) throw error;
    const errors = [{ field: fieldName(error.field === undefined ? [] : [error.field]), message: error.message }];
    throw new Problem('INVALID_REQUEST', { detail: 'The body is not valid JSON.', errors });
  }
}

/**
 * JSON parsers of Go and ASP.NET compare names without regard to case, and the last one wins: an unsigned field must
 * not become a signed one there.
 */
function lookalikes(json: JsonObject): FieldError[] {
  return Object.keys(json).flatMap((name) => {
    if (name.length > LONGEST || SIGNED.has(name)) return [];
    const signed = SIGNED_BY_FOLDED.get(fold(name));
    if (signed === undefined) return [];
    return [{ field: signed, message: 'is given under a name that differs from it in the case of letters' }];
  });
}

/**
 * A name as the most careless parser compares it: in upper case, as Java and .NET do, so that ſ becomes S and ı becomes
 * I; then in lower case, for the Kelvin sign. This takes more for equal than Unicode's simple case folding, never less.
 */
function fold(name: string): string {
  return name.replaceAll('İ', 'i').toUpperCase().toLowerCase();
}

const SIGNED: ReadonlySet<string> = new Set(SIGNED_FIELDS);
const SIGNED_BY_FOLDED: ReadonlyMap<string, string> = new Map(SIGNED_FIELDS.map((name) => [fold(name), name]));
/** Folding never makes a name shorter. */
const LONGEST = Math.max(...SIGNED_FIELDS.map((name) => name.length));
