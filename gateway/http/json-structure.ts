/**
 * Checks the structure of a JSON text in one pass, before JSON.parse builds it. Invalid JSON is left for JSON.parse to
 * reject.
 */
import { syntaxErrorAt } from './json-syntax.ts';

/** How much structure a text may have. The bounds limit cost: no legitimate body reaches them. */
export interface JsonBounds {
  /** Objects, arrays, texts, numbers and literals, at any depth. */
  readonly maxValues: number;
  /**
   * Names of all objects. Distinct names cost JSON.parse several times as much as values, because each creates a shape.
   */
  readonly maxNames: number;
  /** Characters of a name as it is written. */
  readonly maxNameLength: number;
  readonly maxDepth: number;
}

/**
 * Receives each number as it is written, and its depth: 1 in the outermost object. `path()` is valid only during the
 * call.
 */
export type OnNumber = (source: string, depth: number, path: () => string[]) => void;

/** Why a text was rejected. The message quotes nothing of the text, so it may be shown and logged. */
export class StrictJsonRefusal extends Error {
  override readonly name = 'StrictJsonRefusal';
  /** The name that occurs twice or is not allowed. It comes from the sender, so it must not be logged. */
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

/**
 * Reads the structure of a text. Throws StrictJsonRefusal for a name that occurs twice in one object (compared after
 * unescaping), for the name `__proto__` and one with a control character, and above the bounds. A text that passes is
 * safe for JSON.parse, which checks the rest of the syntax.
 */
export function readStructure(text: string, bounds: JsonBounds, onNumber?: OnNumber): void {
  new StructureReader(text, bounds, onNumber).read();
}

/** An object or array that is open. */
interface Level {
  readonly isObject: boolean;
  /** Of an object: whether the next text is a name. */
  expectsName: boolean;
  /** Of an object: the name that was read last. */
  name: string;
  names: Set<string> | undefined;
  /** Of an array: the values so far. */
  length: number;
}

class StructureReader {
  readonly #text: string;
  readonly #bounds: JsonBounds;
  readonly #onNumber: OnNumber | undefined;
  readonly #levels: Level[] = [];
  /** The innermost of the levels. */
  #level: Level | undefined;
  #at = 0;
  #values = 0;
  #names = 0;
  /** Where the next backslash stands, at or behind `#at` once it was looked for. */
  #backslashAt = -1;

  constructor(text: string, bounds: JsonBounds, onNumber: OnNumber | undefined) {
    this.#text = text;
    this.#bounds = bounds;
    this.#onNumber = onNumber;
  }

  read(): void {
    const text = this.#text;
    while (this.#at < text.length) {
      const code = text.charCodeAt(this.#at);
      if (isSpace(code) || code === COLON) this.#at += 1;
      else if (code === COMMA) this.#expectName();
      else if (code === QUOTE) this.#readText();
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#open(code === OPEN_BRACE);
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.#close();
      else this.#readNumberOrLiteral(code);
    }
  }

  #expectName(): void {
    if (this.#level) this.#level.expectsName = this.#level.isObject;
    this.#at += 1;
  }

  #open(isObject: boolean): void {
    this.#countValue();
    const { maxDepth } = this.#bounds;
    if (this.#levels.length === maxDepth) throw new StrictJsonRefusal(`is nested deeper than ${maxDepth} levels`);
    this.#level = { isObject, expectsName: isObject, name: '', names: undefined, length: 0 };
    this.#levels.push(this.#level);
    this.#at += 1;
  }

  #close(): void {
    if (this.#levels.pop() === undefined) throw notJson(this.#text);
    this.#level = this.#levels.at(-1);
    this.#at += 1;
  }

  #readText(): void {
    const from = this.#at;
    const isEscaped = this.#skipText();
    if (this.#level?.expectsName) this.#readName(this.#level, this.#text.slice(from, this.#at), isEscaped);
    else this.#countValue();
  }

  #readName(level: Level, quoted: string, isEscaped: boolean): void {
    const { maxNames, maxNameLength } = this.#bounds;
    this.#names += 1;
    if (this.#names > maxNames) throw new StrictJsonRefusal(`has more than ${maxNames} names`);
    if (quoted.length - 2 > maxNameLength) {
      throw new StrictJsonRefusal(`has a name of more than ${maxNameLength} characters`);
    }
    this.#addName(level, isEscaped ? this.#unescape(quoted) : quoted.slice(1, -1));
    level.expectsName = false;
  }

  #addName(level: Level, name: string): void {
    if (name === '__proto__') throw new StrictJsonRefusal('is a name that is not allowed', name);
    // Parsers in C end a name at NUL, so `amount\u0000` would be `amount` there.
    if (/\p{Cc}/u.test(name)) throw new StrictJsonRefusal('is a name with a control character', name);
    level.names ??= new Set();
    if (level.names.has(name)) throw new StrictJsonRefusal('is given twice in one object', name);
    level.names.add(name);
    level.name = name;
  }

  /** Goes behind the closing quote. Returns whether there are escapes. */
  #skipText(): boolean {
    const text = this.#text;
    const from = this.#at + 1;
    if (this.#backslashAt < from) this.#backslashAt = indexOf(text, '\\', from);
    const end = indexOf(text, '"', from);
    if (end < this.#backslashAt) {
      this.#at = end + 1;
      return false;
    }
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) {
        this.#at = at + 1;
        return true;
      }
    }
    throw notJson(text);
  }

  #readNumberOrLiteral(code: number): void {
    const text = this.#text;
    const from = this.#at;
    let at = from + 1;
    while (at < text.length && isWordPart(text.charCodeAt(at))) at += 1;
    this.#at = at;
    this.#countValue();
    if (code === MINUS || isDigit(code))
      this.#onNumber?.(text.slice(from, at), this.#levels.length, () => this.#path());
  }

  /** A name with its quotes, as the escapes in it mean it. */
  #unescape(quoted: string): string {
    try {
      return JSON.parse(quoted);
    } catch {
      throw notJson(this.#text);
    }
  }

  #countValue(): void {
    if (this.#level) this.#level.length += 1;
    this.#values += 1;
    const { maxValues } = this.#bounds;
    if (this.#values > maxValues) throw new StrictJsonRefusal(`has more than ${maxValues} values`);
  }

  #path(): string[] {
    return this.#levels.map(({ isObject, name, length }) => (isObject ? name : String(length - 1)));
  }
}

/** The refusal of a text that is no JSON; it says where. */
export function notJson(text: string): StrictJsonRefusal {
  const { line, column } = syntaxErrorAt(text);
  return new StrictJsonRefusal(`is not valid JSON: see line ${line}, column ${column}`);
}

/** As String.indexOf, but infinite when there is none. */
function indexOf(text: string, part: string, from: number): number {
  const at = text.indexOf(part, from);
  return at === -1 ? Number.POSITIVE_INFINITY : at;
}

const [COLON, COMMA, QUOTE, BACKSLASH, MINUS] = [0x3a, 0x2c, 0x22, 0x5c, 0x2d];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** What numbers and literals are made of: digits, letters, `+`, `-` and `.`. */
function isWordPart(code: number): boolean {
  return (
    isDigit(code) || (code >= 0x61 && code <= 0x7a) || code === 0x45 || (code >= 0x2b && code <= 0x2e && code !== COMMA)
  );
}
