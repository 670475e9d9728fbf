/** Records the answers of examples: `npm run record`. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { ANSWERS_FILE, type Example, keyOf } from '../../../gateway/openapi/examples/example.ts';
import { agree, type Names } from './agree.ts';

/** What was answered, by the key of its example, as it is to be shown. */
export class Recording {
  readonly #names: Names;
  readonly #answers: Record<string, unknown> = {};
  /** Identifiers that were drawn in an earlier recording are still shown. */
  #drawn = Math.max(
    0,
    ...Array.from(readFileSync(ANSWERS_FILE, 'utf8').matchAll(/8e9fe(\d{3})/g), ([, n]) => Number(n)),
  );

  constructor(names: Names) {
    this.#names = names;
  }

  /**
   * Keeps what the example shows already where that agrees with the answer, so that a recording changes what has
   * changed and no more.
   */
  add(example: Example, answer: unknown): void {
    const key = keyOf(example);
    const shown = this.#shown(example.answer, answer, '');
    // The last time counts for the order.
    delete this.#answers[key];
    this.#answers[key] = shown;
  }

  /** Streams and what the sandbox never does are written by hand. */
  keep(example: Example): void {
    this.#answers[keyOf(example)] = example.answer;
  }

  async write(): Promise<void> {
    await writeFile(ANSWERS_FILE, `${JSON.stringify(this.#answers, null, 2)}\n`);
  }

  #shown(example: unknown, real: unknown, path: string): unknown {
    if (this.#agrees(example, real, path)) return example;
    if (typeof real === 'string') return this.#named(real);
    if (typeof real !== 'object' || real === null) return real;
    const known = (typeof example === 'object' && example !== null ? example : {}) as Record<string, unknown>;
    const parts = Object.entries(real).map(
      ([name, value]) => [name, this.#shown(known[name], value, path === '' ? name : `${path}.${name}`)] as const,
    );
    return Array.isArray(real) ? parts.map(([, value]) => value) : Object.fromEntries(parts);
  }

  #agrees(example: unknown, real: unknown, path: string): boolean {
    if (example === undefined) return false;
    try {
      agree(example, real, this.#names, path);
      return true;
    } catch {
      return false;
    }
  }

  /** A text with the examples' identifiers instead of those of the running service. */
  #named(text: string): string {
    for (const [id] of text.matchAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g)) {
      if ([...this.#names.values()].includes(id)) continue;
      this.#drawn += 1;
      this.#names.set(`0199a1b2-7c3d-7e4f-8a5b-6c7d8e9fe${String(this.#drawn).padStart(3, '0')}`, id);
    }
    return [...this.#names].reduce((shown, [example, real]) => shown.replaceAll(real, example), text);
  }
}
