import { status } from '@grpc/grpc-js';
import type { TwoCores } from '../stage/two-cores.ts';

/** Writers at both cores: each result is an operation. */
export function startWriters(stage: TwoCores, count: number): { stop(): Promise<void> } {
  let stopped = false;
  const common = { merchantId: 'acme', amount: 100n, currency: 'EUR', terminalId: 'T1', userId: 'u' };
  const running = Array.from({ length: count }, async (_, index) => {
    const { octs, holds } = stage.channel('internal', index);
    const write = async () => {
      await octs.createOct({ ...common, tokenId: 'tok_sandbox_ok' });
      const { preauthorization } = await holds.createPreauthorization({ ...common, tokenId: 'tok_sandbox_ok' });
      const { preauthorizationId = '' } = preauthorization ?? {};
      // Without one the outcome is not known yet.
      if (preauthorizationId === '') return;
      await holds.capturePreauthorization({ merchantId: 'acme', preauthorizationId, amountToCapture: 100n });
    };
    while (!stopped) {
      await write().catch((error) => {
        // On a busy machine; the log says what became of it.
        if (error.code !== status.UNAVAILABLE && error.code !== status.DEADLINE_EXCEEDED) throw error;
      });
    }
  });
  return {
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}
