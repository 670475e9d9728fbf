/** A process for run-process.test.ts that stops in the way that its environment names. */
import { z } from 'zod';
import { runProcess } from '../../platform/run-process.ts';
import { PROCESS_SETTINGS } from '../../platform/settings.ts';

if (process.send !== undefined) {
  const close = process.env.STOPS === 'never' ? () => new Promise<never>(() => undefined) : async () => undefined;
  setInterval(() => undefined, 1_000);
  await runProcess('fixture', z.object(PROCESS_SETTINGS), async () => ({ close }), 300);
}
