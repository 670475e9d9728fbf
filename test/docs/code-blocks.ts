/** Reads the code blocks of documents, for tests that run what readers copy. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

/** A fenced block: its language and name from the opening fence, '' when absent, and its content. */
export interface CodeBlock {
  readonly language: string;
  readonly name: string;
  readonly code: string;
}

/** Returns the blocks of a file in order; the path is relative to the project root. */
export function readCodeBlocks(path: string): CodeBlock[] {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```(\w*)(?: (\S+))?\n(.*?)^```$/gms)].map(([, language = '', name = '', code = '']) => ({
    language,
    name,
    code,
  }));
}

/** Returns the code blocks of a file in docs/, by name. */
export function namedCode(document: string): (name: string) => string {
  const blocks = readCodeBlocks(`docs/${document}`);
  return (name) => {
    const block = blocks.find((each) => each.name === name);
    assert(block, `${document} has a block ${name}`);
    return block.code;
  };
}
