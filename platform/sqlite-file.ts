import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from './make-folder.ts';

/**
 * Opens the SQLite file that a setting names, or creates it, readable by its owner only. Throws an Error of one line
 * that names the setting.
 */
export function openSqliteFile(setting: string, path: string): DatabaseSync {
  try {
    makeFolder(dirname(path));
    closeSync(openSync(path, 'a', 0o600));
    const database = new DatabaseSync(path, { timeout: 5_000 });
    database.exec('PRAGMA journal_mode = WAL');
    return database;
  } catch (cause) {
    const { code, errcode, message } = cause as NodeJS.ErrnoException & { readonly errcode?: number };
    throw new Error(`${setting}: cannot open ${path}: ${errcode === undefined ? code : message}`, { cause });
  }
}
