/** The process of the adapter to Adyen. */
import { runProcess } from '../../platform/run-process.ts';
import { startAdapter } from './adapter.ts';
import { ADYEN_SETTINGS } from './settings.ts';

await runProcess('adyen', ADYEN_SETTINGS, startAdapter);
