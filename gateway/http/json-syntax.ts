/**
 * Finds where a text stops being JSON. JSON.parse() rejects it, but not all its messages say where, and they quote the
 * text.
 */

/**
 * The line and column, both from 1, of the first character that cannot stand there; behind the last one when the text
 * ends too early.
 */
export function syntaxErrorAt(text: string): { readonly line: number; readonly column: number } {
  const before = text.slice(0, new Syntax(text).errorAt()).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/uy;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;

/** A recursive descent over a text whose depth was bounded before (json-structure.ts). */
class Syntax {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  errorAt(): number {
    if (this.#value()) this.#skip(SPACE);
    return this.#at;
  }

  /** Goes behind a value; false, at the character that is wrong, when there is none. */
  #value(): boolean {
    this.#skip(SPACE);
    if (this.#take('{')) return this.#members('}', () => this.#name() && this.#value());
    if (this.#take('[')) return this.#members(']', () => this.#value());
    if (this.#text[this.#at] === '"') return this.#string();
    return this.#skip(NUMBER) || this.#skip(LITERAL);
  }

  #members(end: string, member: () => boolean): boolean {
    this.#skip(SPACE);
    if (this.#take(end)) return true;
    do {
      if (!member()) return false;
      this.#skip(SPACE);
    } while (this.#take(','));
    return this.#take(end);
  }

  #name(): boolean {
    this.#skip(SPACE);
    if (!this.#string()) return false;
    this.#skip(SPACE);
    return this.#take(':');
  }

  #string(): boolean {
    return this.#skip(STRING) && this.#take('"');
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  /** Goes behind a match at this place; false when there is none, or an empty one. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const length = pattern.exec(this.#text)?.[0].length ?? 0;
    this.#at += length;
    return length > 0;
  }
}
