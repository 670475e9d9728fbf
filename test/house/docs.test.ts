import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { listFiles } from '../../.ci/sources.ts';
import type { Route } from '../../gateway/http/route.ts';
import { REST_ROUTES } from '../../gateway/rest/rest.ts';

const root = new URL('../../', import.meta.url);

describe('the documents', () => {
  it('have no broken link', async () => {
    const documents = (await listFiles()).filter((path) => path.endsWith('.md'));
    assert(documents.includes('docs/product.md'));
    for (const document of documents) {
      const text = await readFile(new URL(document, root), 'utf8');
      for (const [, file = '', heading] of text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
        const target = new URL(file, new URL(document, root));
        await access(target).catch(() => assert.fail(`${document}: ${file}`));
        if (heading === undefined || (file !== '' && !file.endsWith('.md'))) continue;
        const headings = headingsOf(await readFile(file === '' ? new URL(document, root) : target, 'utf8'));
        assert(headings.includes(heading), `${document}: ${file}#${heading}`);
      }
    }
  });

  it('name only source files that exist', async () => {
    const files = await listFiles();
    for (const document of files.filter((path) => path.endsWith('.md'))) {
      const text = await readFile(new URL(document, root), 'utf8');
      for (const [, path = ''] of text.matchAll(/`([\w./-]+\.(?:ts|sql|proto))`/g)) {
        assert(
          files.some((file) => `/${file}`.endsWith(`/${path}`)),
          `${document}: ${path}`,
        );
      }
    }
  });

  it('say in docs/product.md what each route does that makes an operation', async () => {
    const text = await readFile(new URL('docs/product.md', root), 'utf8');
    const routes = Object.values<Route>(REST_ROUTES).filter(({ headers = {} }) => 'Idempotency-Key' in headers);
    assert(routes.length >= 4);
    for (const { method, path } of routes) {
      assert(text.includes(`\`${method.toUpperCase()} ${path}\``), `${method} ${path}`);
    }
  });
});

/** The names under which the headings of a document are linked to. */
function headingsOf(text: string): string[] {
  const headings = text.matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, words = '']) =>
    words
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
