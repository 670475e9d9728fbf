/** Core's RPC process. */
import { runProcess } from '../../platform/run-process.ts';
import { CORE_SETTINGS } from './settings/core-settings.ts';
import { startCore } from './start/start-core.ts';

await runProcess('core', CORE_SETTINGS, startCore);
