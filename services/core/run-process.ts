import { captureOutput, type Log, type LogLevel, openLog } from '../../proto/log.ts';
import { startTracing, type Tracing } from '../../proto/tracing.ts';

/** The settings that every process has. */
interface ProcessSettings {
  readonly LOG_LEVEL: LogLevel;
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
}

/** A started process, and how to stop it. */
export interface Running {
  close(): Promise<void>;
}

/**
 * Runs a process: reads its settings, starts tracing and the process, tells whoever started it (over the IPC channel, if there is one) that it is ready, and stops it on
 * SIGTERM, SIGINT, or when that channel is gone. What goes wrong at the start is one line on standard error and exit code 1.
 */
export async function runProcess<S extends ProcessSettings>(
  name: string,
  readSettings: () => S,
  start: (settings: S, options: { readonly log: Log }) => Promise<Running>,
): Promise<void> {
  let running: Running;
  let tracing: Tracing;
  try {
    const settings = readSettings();
    tracing = await startTracing(name, settings.OTEL_EXPORTER_OTLP_ENDPOINT);
    const log = openLog(name, settings.LOG_LEVEL);
    captureOutput(log);
    running = await start(settings, { log });
  } catch (error) {
    process.stderr.write(`holdfast ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    const closed = running.close().finally(() => tracing.close());
    closed.then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`holdfast ${name}: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('disconnect', stop);
  process.send?.({ ready: true });
}
