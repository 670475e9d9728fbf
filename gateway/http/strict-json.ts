/** Parses untrusted JSON: only what every parser reads alike, and with bounded work. */

/** An object from JSON.parse. Use `Object.hasOwn`: names such as `constructor` are inherited. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Bounds of the structure of a text. They limit cost: no legitimate body reaches them. */
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
 * Reads bytes as one JSON object (RFC 8259) in UTF-8. Throws StrictJsonRefusal for invalid UTF-8, a byte order mark,
 * anything but an object at the top, names that occur twice in one object (compared after unescaping), the name
 * `__proto__` and names with a control character, and more structure than the bounds allow. `onNumber` receives numbers
 * as the sender wrote them: JSON.parse reads 10.50 and 10.5 alike.
 */
export function parseStrictJson(bytes: Uint8Array, bounds: JsonBounds, onNumber?: OnNumber): JsonObject {
  const text = decode(bytes);
  if (text === '') throw new StrictJsonRefusal('is empty: it must be a JSON object');
  if (text.startsWith('\ufeff')) throw new StrictJsonRefusal('must not begin with a byte order mark');
  const value = new Reader(text, bounds, onNumber).read();
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

/**
 * Checks names, bounds and syntax in one pass, and only then lets JSON.parse build the value. What is inside of texts
 * is left to JSON.parse, which is faster; where that fails, a second reader that checks texts finds the place, which
 * not all messages of JSON.parse say.
 */
class Reader {
  readonly #text: string;
  readonly #bounds: JsonBounds;
  readonly #onNumber: OnNumber | undefined;
  readonly #checksTexts: boolean;
  /** The names and indexes that lead to the value that is read. */
  readonly #path: (string | number)[] = [];
  #at = 0;
  #values = 0;
  #names = 0;
  /** The position of the next backslash, at or behind `#at` once it was looked for. */
  #backslashAt = -1;

  constructor(text: string, bounds: JsonBounds, onNumber?: OnNumber, checksTexts = false) {
    this.#text = text;
    this.#bounds = bounds;
    this.#onNumber = onNumber;
    this.#checksTexts = checksTexts;
  }

  read(): unknown {
    this.#readValue();
    if (!Number.isNaN(this.#next())) this.#refuse();
    return this.#parse(this.#text);
  }

  #readValue(): void {
    const code = this.#next();
    const { maxValues } = this.#bounds;
    this.#values += 1;
    if (this.#values > maxValues) throw new StrictJsonRefusal(`has more than ${maxValues} values`);
    if (code === QUOTE) this.#skipText();
    else if (code === OPEN_BRACE) this.#readObject();
    else if (code === OPEN_BRACKET) this.#readArray();
    else if (code < SMALL_A) this.#readNumber();
    else if (!this.#skip(LITERAL)) this.#refuse();
  }

  #readObject(): void {
    const depth = this.#open();
    const names = new Set<string>();
    if (!this.#take(CLOSE_BRACE)) {
      do {
        this.#path[depth] = this.#readName(names);
        if (!this.#take(COLON)) this.#refuse();
        this.#readValue();
      } while (this.#take(COMMA));
      if (!this.#take(CLOSE_BRACE)) this.#refuse();
    }
    this.#path.pop();
  }

  #readArray(): void {
    const depth = this.#open();
    if (!this.#take(CLOSE_BRACKET)) {
      let index = 0;
      do {
        this.#path[depth] = index++;
        this.#readValue();
      } while (this.#take(COMMA));
      if (!this.#take(CLOSE_BRACKET)) this.#refuse();
    }
    this.#path.pop();
  }

  /** Goes into an object or array. Returns its place in the path. */
  #open(): number {
    const { maxDepth } = this.#bounds;
    if (this.#path.length === maxDepth) throw new StrictJsonRefusal(`is nested deeper than ${maxDepth} levels`);
    this.#at += 1;
    return this.#path.push(0) - 1;
  }

  #readName(names: Set<string>): string {
    if (this.#next() !== QUOTE) this.#refuse();
    const from = this.#at;
    const isEscaped = this.#skipText();
    const { maxNames, maxNameLength } = this.#bounds;
    this.#names += 1;
    if (this.#names > maxNames) throw new StrictJsonRefusal(`has more than ${maxNames} names`);
    if (this.#at - from - 2 > maxNameLength)
      throw new StrictJsonRefusal(`has a name of more than ${maxNameLength} characters`);
    const quoted = this.#text.slice(from, this.#at);
    const name = isEscaped ? (this.#parse(quoted) as string) : quoted.slice(1, -1);
    if (name === '__proto__') throw new StrictJsonRefusal('is a name that is not allowed', name);
    // Parsers in C end a name at NUL, so `amount\u0000` would be `amount` there.
    if (/\p{Cc}/u.test(name)) throw new StrictJsonRefusal('is a name with a control character', name);
    if (names.has(name)) throw new StrictJsonRefusal('is given twice in one object', name);
    names.add(name);
    return name;
  }

  /** Goes behind the closing quote. Returns whether there may be escapes. */
  #skipText(): boolean {
    const text = this.#text;
    if (this.#checksTexts) {
      this.#skip(START_OF_TEXT);
      if (text.charCodeAt(this.#at) !== QUOTE) this.#refuse();
      this.#at += 1;
      return true;
    }
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
    this.#refuse();
  }

  #readNumber(): void {
    const from = this.#at;
    if (!this.#skip(NUMBER)) this.#refuse();
    this.#onNumber?.(this.#text.slice(from, this.#at), this.#path.length, () => this.#path.map(String));
  }

  /** The character at this place, behind spaces; NaN at the end. */
  #next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
      this.#at += 1;
    }
  }

  #take(code: number): boolean {
    if (this.#next() !== code) return false;
    this.#at += 1;
    return true;
  }

  /** Goes behind a match at this place; false when there is none. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #parse(json: string): unknown {
    try {
      return JSON.parse(json);
    } catch {
      // Not as `cause`: the parser's message quotes the text.
      return this.#refuse();
    }
  }

  /** Refuses the syntax, and says where: the first character that cannot stand there, or the end of the text. */
  #refuse(): never {
    if (!this.#checksTexts) new Reader(this.#text, this.#bounds, undefined, true).read();
    const before = this.#text.slice(0, this.#at).split('\n');
    const column = (before.at(-1) ?? '').length + 1;
    throw new StrictJsonRefusal(`is not valid JSON: see line ${before.length}, column ${column}`);
  }
}

/** As String.indexOf, but infinite when there is none. */
function indexOf(text: string, part: string, from: number): number {
  const at = text.indexOf(part, from);
  return at === -1 ? Number.POSITIVE_INFINITY : at;
}

const [COLON, COMMA, QUOTE, BACKSLASH, SMALL_A] = [0x3a, 0x2c, 0x22, 0x5c, 0x61];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const START_OF_TEXT = /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/uy;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;
