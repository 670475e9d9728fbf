import { openLog } from '../../../../platform/log.ts';
import { watchProcessors } from '../../../../services/core/health/watch-processors.ts';
import type { Processor } from '../../../../services/core/processor/processor.ts';

describe('watchProcessors()', () => {
  it('asks each processor, also beside one that does not answer', async () => {
    const asked = Promise.withResolvers<void>();
    const frozen = Promise.withResolvers<void>();
    const asks: Record<string, () => Promise<void>> = {
      frozen: () => frozen.promise,
      well: async () => asked.resolve(),
    };
    const of = ({ processor }: { readonly processor: string }) =>
      ({ askWhenSilent: () => asks[processor]?.() }) as unknown as Processor;
    const watch = watchProcessors({ names: ['frozen', 'well'], of }, openLog('test', 'silent'));
    await asked.promise;
    frozen.resolve();
    await watch.close();
  });
});
