/** `npm start`: the whole service on this machine, until Ctrl-C. */
import { banner } from './banner.ts';
import { startQuickstart } from './quickstart.ts';
import { readSettings } from './settings.ts';

const print = (line: string) => void process.stdout.write(`${line}\n`);
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopped.abort());
// A closed pipe or terminal must not stop the service.
process.stdout.on('error', () => undefined);

try {
  print('Holdfast starts PostgreSQL, core, worker, gateway, the sandbox processor and a demo merchant.');
  const quickstart = await startQuickstart(readSettings(process.env), print, stopped.signal);
  try {
    print(await banner(quickstart));
    if (!stopped.signal.aborted) {
      const waiting = setInterval(() => undefined, 2 ** 30);
      await new Promise((resolve) => stopped.signal.addEventListener('abort', resolve));
      clearInterval(waiting);
    }
  } finally {
    print('holdfast: stopping');
    await quickstart.stop();
    print('holdfast: stopped');
  }
} catch (error) {
  if (!stopped.signal.aborted) {
    process.stderr.write(`holdfast: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
