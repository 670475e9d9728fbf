/** The code of a document, for tests that run what readers will copy. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

/** The blocks of a file in docs/ that have a name after their language, by name. */
export function codeBlocks(document: string): (name: string) => string {
  const text = readFileSync(new URL(`../../docs/${document}`, import.meta.url), 'utf8');
  const blocks = new Map<string, string>();
  for (const [, name = '', code = ''] of text.matchAll(/^```[a-z]+ (\S+)\n(.*?)^```$/gms)) blocks.set(name, code);
  return (name) => {
    const code = blocks.get(name);
    assert(code, `${document} has a block ${name}`);
    return code;
  };
}
