/** Core's RPC process. */
import { runProcess } from '../../platform/run-process.ts';
import { CORE_SETTINGS } from './settings.ts';
import { startCore } from './start-core.ts';

await runProcess('core', CORE_SETTINGS, startCore);
