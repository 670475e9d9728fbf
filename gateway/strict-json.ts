/** JSON of strangers: one reading only, whatever parser reads it next, and little work, whatever it holds. */
import { type JsonBounds, type OnNumber, readStructure, StrictJsonRefusal } from './json-structure.ts';

/** An object of JSON.parse. Ask `Object.hasOwn`: names such as `constructor` are inherited. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads bytes as one JSON object (RFC 8259) in UTF-8. Throws StrictJsonRefusal for invalid UTF-8, a byte order mark, anything
 * but an object at the top, names that occur twice in one object, the name `__proto__`, and more structure than the bounds allow.
 * `onNumber` receives numbers as the sender wrote them: JSON.parse reads 10.50 and 10.5 alike.
 */
export function parseStrictJson(bytes: Uint8Array, bounds: JsonBounds, onNumber?: OnNumber): JsonObject {
  const text = decode(bytes);
  readStructure(text, bounds, onNumber);
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new StrictJsonRefusal('not a JSON object');
  return value as JsonObject;
}

/** The value of a number's source when that is a plain integer which a double holds exactly; else undefined: `5.0`, `1e2`. */
export function plainInteger(source: string): number | undefined {
  const value = /^-?(0|[1-9][0-9]{0,15})$/.test(source) ? Number(source) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new StrictJsonRefusal('not UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not as `cause`: the parser's message quotes the text.
    throw new StrictJsonRefusal('not a JSON object');
  }
}
