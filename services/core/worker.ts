/** The worker process of core: deliveries, expiry, recovery. */
import { runProcess } from './run-process.ts';
import { startWorker } from './start-worker.ts';
import { readWorkerSettings } from './worker-settings.ts';

await runProcess('worker', () => readWorkerSettings(process.env), startWorker);
