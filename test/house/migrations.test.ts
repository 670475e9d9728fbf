import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { previousRelease } from '../../.ci/previous-release.ts';
import { ROOT, runTool } from '../../.ci/sources.ts';

const FOLDER = `${ROOT}services/core/storage/migrations/`;
/**
 * Statements that break the previous version, which still uses the table or column, or inserts rows without the new
 * one.
 */
const NARROWING =
  /\b(drop\s+(table|column)|rename|alter\s+column|truncate|add\s+column\s+"?\w+"?\s+[\w()]+(\[\])?\s+not\s+null(?!\s+default))\b/i;

describe('migrations', () => {
  it('do not drop, rename or narrow a table or column', async () => {
    const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.ts'));
    assert(files.length >= 1);
    for (const file of files) {
      const text = await readFile(FOLDER + file, 'utf8');
      const statements = [...text.matchAll(/addSql\(\s*(['"`])([\s\S]*?)\1\s*,?\s*\)/g)].map(([, , sql = '']) => sql);
      assert(statements.length > 0, `${file}: the pattern finds its statements`);
      for (const sql of statements) assert.doesNotMatch(sql, NARROWING, file);
    }
  });

  it('are never edited once they are released', async function () {
    const release = await previousRelease();
    if (release === undefined) this.skip();
    const edited = await runTool('git', ['diff', '--name-only', '--diff-filter=a', release, '--', FOLDER]);
    assert.equal(edited, '');
  });

  it('would be found otherwise', () => {
    for (const sql of [
      'alter table "hold" drop column "amount"',
      'drop table "hold"',
      'alter table "hold" rename to "reservation"',
      'alter table "hold" alter column "amount" type int',
      'alter table "hold" add column "tip" bigint not null;',
    ]) {
      assert.match(sql, NARROWING);
    }
    assert.doesNotMatch('alter table "hold" add column "tip" bigint not null default 0', NARROWING);
  });
});
