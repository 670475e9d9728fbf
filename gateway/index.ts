/** The gateway process, or the first of several. */
import cluster from 'node:cluster';
import { runProcess } from '../platform/run-process.ts';
import { startGateway } from './gateway.ts';
import { startProcesses } from './processes.ts';
import { GATEWAY_SETTINGS } from './settings.ts';

await runProcess('gateway', GATEWAY_SETTINGS, async (settings, options) => {
  const { GATEWAY_PROCESSES: count } = settings;
  return count > 1 && cluster.isPrimary ? startProcesses(count, options.log) : startGateway(settings, options);
});
