/** The worker process: deliveries, expiry and recovery. */
import { runProcess } from '../../platform/run-process.ts';
import { startWorker } from './start-worker.ts';
import { WORKER_SETTINGS } from './worker-settings.ts';

await runProcess('worker', WORKER_SETTINGS, startWorker);
