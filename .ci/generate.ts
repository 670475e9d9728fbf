/** `npm run generate`: the code of the contract, and the dump of the schema. */
import { runTool } from './run-tool.ts';
import { writeDump } from './schema.ts';
import { withMigratedDatabase } from './scratch-database.ts';

await runTool('buf', ['generate']);
await withMigratedDatabase(writeDump);
