/** The gateway process: settings, start, ready, stop. */
import { startGateway } from './gateway.ts';
import { readSettings } from './settings.ts';

async function main(): Promise<void> {
  const gateway = await startGateway(readSettings(process.env));
  const stop = () => {
    process.off('SIGTERM', stop).off('SIGINT', stop).off('disconnect', stop);
    gateway
      .close()
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
