/** The worker process: deliveries, expiry and recovery. */
import { runProcess } from '../../platform/run-process.ts';
import { WORKER_SETTINGS } from './settings/worker-settings.ts';
import { startWorker } from './start/start-worker.ts';

await runProcess('worker', WORKER_SETTINGS, startWorker);
