/** A started process, and how to stop it. */
export interface Running {
  close(): Promise<void>;
}

/**
 * Runs a process: starts it, tells whoever started it (over the IPC channel, if there is one) that it is ready, and stops it on
 * SIGTERM, SIGINT, or when that channel is gone. What goes wrong at the start is one line on standard error and exit code 1.
 */
export async function runProcess(name: string, start: () => Promise<Running>): Promise<void> {
  let running: Running;
  try {
    running = await start();
  } catch (error) {
    process.stderr.write(`holdfast ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    running.close().then(
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
