/** A process for run-process.test.ts that starts and stops in the way that its environment names. */
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { runProcess } from '../../platform/run-process.ts';
import { PROCESS_SETTINGS } from '../../platform/settings.ts';

if (process.send !== undefined) {
  const stops = process.env.STOPS !== 'never';
  const close = stops ? () => setImmediate() : () => new Promise<never>(() => undefined);
  setInterval(() => undefined, 1_000);
  const start = async () => {
    const { STARTS } = process.env;
    if (STARTS === undefined) return { close };
    process.send?.('starting');
    await once(process, 'disconnect');
    return STARTS === 'orphaned' ? { close } : { close, ready: new Promise<never>(() => undefined) };
  };
  await runProcess('fixture', z.object(PROCESS_SETTINGS), start, stops ? 10_000 : 300);
}
