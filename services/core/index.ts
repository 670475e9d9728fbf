/** The RPC process of core. */
import { runProcess } from './run-process.ts';
import { readSettings } from './settings.ts';
import { startCore } from './start-core.ts';

await runProcess('core', () => readSettings(process.env), startCore);
