import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { openSqliteFile } from '../../platform/sqlite-file.ts';

describe('openSqliteFile()', () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(`${tmpdir()}/holdfast-sqlite-`);
  });
  after(() => rmSync(directory, { recursive: true }));

  it('makes a file, and the folders above it, for its owner only', () => {
    openSqliteFile('LEDGER', `${directory}/new/folder/ledger.sqlite`).close();
    assert.equal(statSync(`${directory}/new/folder`).mode & 0o777, 0o700);
    assert.equal(statSync(`${directory}/new/folder/ledger.sqlite`).mode & 0o777, 0o600);
  });

  it('names the setting of a file that cannot be opened', () => {
    writeFileSync(`${directory}/text`, 'this is not SQLite, '.repeat(100));
    const wrong = [
      [`${directory}/text/ledger.sqlite`, 'ENOTDIR'],
      [directory, 'EISDIR'],
      [`${directory}/text`, 'file is not a database'],
      ...(process.platform === 'linux' ? [['/proc/holdfast/ledger.sqlite', 'ENOENT']] : []),
    ];
    for (const [path = '', why] of wrong) {
      assert.throws(() => openSqliteFile('LEDGER', path), { message: `LEDGER: cannot open ${path}: ${why}` });
    }
  });
});
