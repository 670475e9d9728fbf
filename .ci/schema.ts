/** Entities, migrations and the dumped schema say the same. */
import { readFile, writeFile } from 'node:fs/promises';
import { openDatabase } from '../services/core/storage/open-database.ts';
import { ORM } from '../services/core/storage/orm.ts';
import { dumpSchema } from './dump-schema.ts';
import { firstDifference } from './first-difference.ts';
import { ROOT } from './sources.ts';

const FILE = 'services/core/schema.sql';

/** Answers what the ORM would change in a migrated database so that it fits the entities: nothing, if all is well. */
export async function entityFaults(databaseUrl: string): Promise<string[]> {
  const database = await openDatabase({ databaseUrl, poolSize: 2 });
  try {
    const sql = await database[ORM].schema.getUpdateSchemaSQL({ safe: true, dropTables: false, wrap: false });
    return sql.split('\n').filter((line) => line.trim() !== '');
  } finally {
    await database.close();
  }
}

/** Compares the dumped schema with a migrated database. */
export async function dumpFaults(databaseUrl: string): Promise<string[]> {
  const difference = firstDifference(await readFile(ROOT + FILE, 'utf8'), await dumpSchema(databaseUrl));
  return difference === undefined ? [] : [`${FILE}:${difference}; run npm run generate`];
}

/** Writes the dump of a migrated database. */
export async function writeDump(databaseUrl: string): Promise<void> {
  await writeFile(ROOT + FILE, await dumpSchema(databaseUrl));
}
