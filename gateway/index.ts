/** The gateway process: settings, start, ready, stop. */
import { captureOutput, openLog } from '../proto/log.ts';
import { startTracing } from '../proto/tracing.ts';
import { startGateway } from './gateway.ts';
import { readSettings } from './settings.ts';

async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const tracing = await startTracing('gateway', settings.OTEL_EXPORTER_OTLP_ENDPOINT);
  const log = openLog('gateway', settings.LOG_LEVEL);
  captureOutput(log);
  const gateway = await startGateway(settings, { log });
  const stop = () => {
    process.off('SIGTERM', stop).off('SIGINT', stop).off('disconnect', stop);
    gateway
      .close()
      .finally(() => tracing.close())
      .then(() => process.connected && process.disconnect())
      .catch(fail);
  };
  process.on('SIGTERM', stop).on('SIGINT', stop).on('disconnect', stop);
  await gateway.ready;
  process.send?.({ ready: true });
}

function fail(error: unknown): void {
  process.stderr.write(`gateway: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

main().catch(fail);
