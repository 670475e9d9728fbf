/** The worker process of core: deliveries, expiry, recovery. */
import { runProcess } from './run-process.ts';
import { startWorker } from './start-worker.ts';
import { readWorkerSettings } from './worker-settings.ts';

await runProcess('worker', async () => startWorker(readWorkerSettings(process.env)));
