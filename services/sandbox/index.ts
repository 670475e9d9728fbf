/** The sandbox card processor: settings, start, ready, stop. */
import { captureOutput, openLog } from '../../proto/log.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { readSettings } from './settings.ts';

let sandbox: Sandbox;
try {
  const settings = readSettings(process.env);
  const log = openLog('sandbox', settings.logLevel);
  captureOutput(log);
  sandbox = await startSandbox(settings, { log });
} catch (error) {
  process.stderr.write(`sandbox: ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    sandbox.close().then(() => process.exit(0));
  });
}
process.send?.({ ready: true });
