/** The process of the sandbox card processor. */
import { runProcess } from '../../platform/run-process.ts';
import { startSandbox } from './sandbox.ts';
import { SANDBOX_SETTINGS } from './settings.ts';

await runProcess('sandbox', SANDBOX_SETTINGS, startSandbox);
