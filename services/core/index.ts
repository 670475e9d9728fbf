/** The RPC process of core. */
import { startCore } from './core.ts';
import { runProcess } from './run-process.ts';
import { readSettings } from './settings.ts';

await runProcess('core', () => readSettings(process.env), startCore);
