/**
 * `npm run generate`: the code of the contract, the types of the client, the dump of the schema, the hot statements, the tables of the documents, and what npm
 * leaves out of its lock.
 */
import { writeClientTypes } from './client-types.ts';
import { completeLock } from './lock.ts';
import { runTool } from './run-tool.ts';
import { withMigratedDatabase, writeDump } from './schema.ts';
import { writeStatements } from './statements.ts';
import { writeTables } from './tables.ts';

await completeLock();
await runTool('buf', ['generate']);
await writeClientTypes();
await withMigratedDatabase(writeDump);
await writeStatements();
await writeTables();
