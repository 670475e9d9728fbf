import type { z } from 'zod';
import { captureOutput, type Log, type LogLevel, openLog } from './log.ts';
import { readSettings } from './settings.ts';
import { settlesWithin } from './settles-within.ts';
import type { Tracing } from './trace-exporter.ts';
import { startTracing } from './tracing.ts';

/** The settings that every process has (PROCESS_SETTINGS). */
interface ProcessSettings {
  readonly LOG_LEVEL: LogLevel;
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
}

/** A started process, and how to stop it. */
export interface Running {
  /** Resolves when it can serve; a process without it serves as soon as it has started. */
  readonly ready?: Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Runs this process: reads its settings from the environment, starts tracing and `start`, and reports `{ ready: true }`
 * to its parent over the IPC channel, if there is one. Stops on SIGTERM, on SIGINT, and when the parent disconnects. A
 * failure is one line on standard error and exit code 1; so is a stop that takes longer than `stopWithinMs`.
 */
export async function runProcess<S extends z.ZodType<ProcessSettings>>(
  name: string,
  schema: S,
  start: (settings: z.output<S>, options: { readonly log: Log }) => Promise<Running>,
  stopWithinMs = STOP_WITHIN_MS,
): Promise<void> {
  const fail = (error: unknown) => {
    process.stderr.write(`holdfast ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  };
  try {
    const settings = readSettings(schema, process.env);
    const tracing = await startTracing(name, settings.OTEL_EXPORTER_OTLP_ENDPOINT);
    const log = openLog(name, settings.LOG_LEVEL);
    captureOutput(log);
    const running = await start(settings, { log });
    stopOnSignal(running, tracing, stopWithinMs, fail);
    await running.ready;
    if (process.connected) process.send?.({ ready: true });
  } catch (error) {
    fail(error);
  }
}

/** Longer than the calls that a stopping process lets end, shorter than the 30 s after which a deployment kills it. */
const STOP_WITHIN_MS = 20_000;

function stopOnSignal(running: Running, tracing: Tracing, withinMs: number, fail: (error: unknown) => void): void {
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    const closed = running.close().finally(() => tracing.close());
    settlesWithin(withinMs, closed).then((isClosed) => {
      if (!isClosed) fail(new Error(`did not stop within ${withinMs / 1000} s`));
      process.exit(0);
    }, fail);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.on(signal, stop);
  // False when the parent has ended while this process started, undefined without a parent that listens.
  if (process.connected === false) stop();
}
