/** The gateway process. */
import { runProcess } from '../platform/run-process.ts';
import { startGateway } from './gateway.ts';
import { GATEWAY_SETTINGS } from './settings.ts';

await runProcess('gateway', GATEWAY_SETTINGS, startGateway);
