/**
 * `npm run generate`: the code of the contract, the kinds at the edge, the currencies, the types of the client, the dump of the schema,
 * the hot statements, the tables of the documents, and what npm leaves out of its lock.
 */
import { CURRENCIES } from './currencies.ts';
import { write } from './generated.ts';
import { KINDS } from './kinds.ts';
import { LOCK } from './lock.ts';
import { runTool } from './sources.ts';

await write([LOCK, ...KINDS, ...CURRENCIES]);
await runTool('buf', ['generate']);
// These load what was just generated.
const { CLIENT_TYPES } = await import('./client-types.ts');
const { STATEMENTS, schemaDump, withMigratedDatabase } = await import('./schema.ts');
const { TABLES } = await import('./tables.ts');
await write([CLIENT_TYPES, STATEMENTS, ...TABLES]);
await withMigratedDatabase((databaseUrl) => write([schemaDump(databaseUrl)]));
