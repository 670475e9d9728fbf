/**
 * `npm run generate`: the code of the contract, the kinds at the edge, the types of the client, the dump of the schema,
 * the hot statements, the tables of the documents, and what npm leaves out of its lock.
 */
import { writeKinds } from './kinds.ts';
import { completeLock } from './lock.ts';
import { runTool } from './run-tool.ts';

await completeLock();
await runTool('buf', ['generate']);
await writeKinds();
// These load what was just generated.
const { writeClientTypes } = await import('./client-types.ts');
const { withMigratedDatabase, writeDump } = await import('./schema.ts');
const { writeStatements } = await import('./statements.ts');
const { writeTables } = await import('./tables.ts');
await writeClientTypes();
await withMigratedDatabase(writeDump);
await writeStatements();
await writeTables();
