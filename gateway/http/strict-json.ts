/** Parses untrusted JSON: only what every parser reads alike, and with bounded work. */
import { type JsonBounds, notJson, type OnNumber, readStructure, StrictJsonRefusal } from './json-structure.ts';

/** An object from JSON.parse. Use `Object.hasOwn`: names such as `constructor` are inherited. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads bytes as one JSON object (RFC 8259) in UTF-8. Throws StrictJsonRefusal for invalid UTF-8, a byte order mark,
 * anything but an object at the top, names that occur twice in one object, the name `__proto__`, and more structure
 * than the bounds allow. `onNumber` receives numbers as the sender wrote them: JSON.parse reads 10.50 and 10.5 alike.
 */
export function parseStrictJson(bytes: Uint8Array, bounds: JsonBounds, onNumber?: OnNumber): JsonObject {
  const text = decode(bytes);
  if (text === '') throw new StrictJsonRefusal('is empty: it must be a JSON object');
  if (text.startsWith('\ufeff')) throw new StrictJsonRefusal('must not begin with a byte order mark');
  readStructure(text, bounds, onNumber);
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new StrictJsonRefusal('must be a JSON object');
  return value as JsonObject;
}

/**
 * The value of a number's source when that is a plain integer which a double holds exactly; else undefined: `5.0`,
 * `1e2`.
 */
export function plainInteger(source: string): number | undefined {
  const value = /^-?(0|[1-9][0-9]{0,15})$/.test(source) ? Number(source) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new StrictJsonRefusal('is not UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not as `cause`: the parser's message quotes the text.
    throw notJson(text);
  }
}
