/** The sandbox card processor: settings, start, ready, stop. */
import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { readSettings } from './settings.ts';

// What grpc-js has to say reaches us as errors; its own lines would stand beside ours on stderr.
setLogVerbosity(logVerbosity.NONE);

let sandbox: Sandbox;
try {
  sandbox = await startSandbox(readSettings(process.env));
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
