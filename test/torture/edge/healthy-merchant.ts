import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Merchant } from './attack.ts';
import type { Measured, Order, Told } from './healthy-process.ts';

export type HealthyMerchant = Awaited<ReturnType<typeof openHealthyMerchant>>;

/**
 * Starts the healthy merchant's process. It becomes active once its merchant exists, whose webhook URL is the process's
 * own.
 */
export async function openHealthyMerchant(baseUrl: string, create: (webhookUrl: string) => Promise<Merchant>) {
  const child = fork(fileURLToPath(new URL('healthy-process.ts', import.meta.url)), { stdio: 'inherit' });
  const told = async <K extends Told['kind']>(kind: K): Promise<Extract<Told, { kind: K }>> => {
    for (;;) {
      const [message] = (await once(child, 'message')) as [Told];
      if (message.kind === kind) return message as Extract<Told, { kind: K }>;
    }
  };
  const order = (message: Order) => void child.send(message);
  const { port } = await told('listening');
  const merchant = await create(`http://127.0.0.1:${port}`);
  order({ kind: 'play', baseUrl, apiKey: merchant.apiKey });
  await told('playing');
  return {
    merchant,
    /** Measures during an attack. */
    async during<T>(act: () => Promise<T>): Promise<{ result: T; measured: Measured }> {
      order({ kind: 'measure' });
      const result = await act();
      order({ kind: 'report' });
      return { result, measured: await told('measured') };
    },
    async close(): Promise<void> {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
