import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { listFiles, ROOT } from '../../.ci/sources.ts';

const SPECIFICATION = 'docs/product.md';

/** A citation names the file and the heading; a comment may break the line between the two, never within the heading. */
const CITATION = /docs\/product\.md,\s+(?:\*\s+|\/\/\s+|#\s+)?"([^"\n]+)"/g;
const LINK = /\]\((?:\S*\/)?product\.md#([^)\s]+)\)/g;
/** Numbered sections of documents outside this repository; built so that this line does not match itself. */
const ELSEWHERE = /\bPRODUC[T]\b|\bsee[d], "|\bsee[d]'s/;

describe('citations of docs/product.md', () => {
  let headings: readonly string[];
  let texts: readonly (readonly [path: string, text: string])[];

  before(async () => {
    const product = await readFile(ROOT + SPECIFICATION, 'utf8');
    headings = [...product.matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) => heading);
    const paths = (await listFiles()).filter((path) => /\.(ts|js|mjs|proto|md|sql|yml)$/.test(path));
    texts = await Promise.all(paths.map(async (path) => [path, await readFile(ROOT + path, 'utf8')] as const));
  });

  it('name headings that it has, each once', () => {
    assert.equal(new Set(headings).size, headings.length);
    const cited = texts.flatMap(([path, text]) =>
      [...text.matchAll(CITATION)].map(([, heading = '']) => [path, heading]),
    );
    assert(cited.length >= 20, 'the pattern finds the citations');
    assert.deepEqual(
      cited.filter(([, heading = '']) => !headings.includes(heading)),
      [],
    );
  });

  it('say the heading wherever code names the file', () => {
    const named = texts.filter(([path]) => !path.endsWith('.md') && !path.startsWith('test/house/'));
    const bare = named.filter(
      ([, text]) => text.split(SPECIFICATION).length - 1 !== [...text.matchAll(CITATION)].length,
    );
    assert.deepEqual(
      bare.map(([path]) => path),
      [],
    );
  });

  it('lead to headings where documents link to one', () => {
    const product = texts.find(([path]) => path === SPECIFICATION)?.[1] ?? '';
    const slugs = headings.map(slugOf);
    const links = texts.flatMap(([path, text]) => [...text.matchAll(LINK)].map(([, slug = '']) => [path, slug]));
    const own = [...product.matchAll(/\]\(#([^)\s]+)\)/g)].map(([, slug = '']) => [SPECIFICATION, slug]);
    assert.deepEqual(
      [...links, ...own].filter(([, slug = '']) => !slugs.includes(slug)),
      [],
    );
  });

  it('have replaced numbered sections of other documents', () => {
    assert.deepEqual(
      texts.filter(([, text]) => ELSEWHERE.test(text)).map(([path]) => path),
      [],
    );
  });
});

/** Returns the anchor that GitHub derives from a heading. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}
