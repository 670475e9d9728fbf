/** The code of a document, for tests that run what readers will copy. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

/** What stands between two fences. The opening one says the language and may say a name; what it does not say is ''. */
export interface CodeBlock {
  readonly language: string;
  readonly name: string;
  readonly code: string;
}

/** The blocks of a file, by its path from the project's root, in order. */
export function readCodeBlocks(path: string): CodeBlock[] {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```(\w*)(?: (\S+))?\n(.*?)^```$/gms)].map(([, language = '', name = '', code = '']) => ({
    language,
    name,
    code,
  }));
}

/** The code of a file in docs/, by the names of its blocks. */
export function namedCode(document: string): (name: string) => string {
  const blocks = readCodeBlocks(`docs/${document}`);
  return (name) => {
    const block = blocks.find((each) => each.name === name);
    assert(block, `${document} has a block ${name}`);
    return block.code;
  };
}
