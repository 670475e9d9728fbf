import assert from 'node:assert/strict';
import { packageFaults } from '../../.ci/packages.ts';
import { readSource } from '../../.ci/sources.ts';

describe('packageFaults()', () => {
  const faultsWith = async (path: string, text: string) => packageFaults([await readSource(path, text)]);

  it('names a package that is imported and not declared', async () => {
    const faults = await faultsWith('gateway/core/client.ts', `import leftPad from 'left-pad/x';`);
    assert(faults.includes('left-pad is imported, not declared'));
  });

  it('names a package that the product imports and that is declared for development only', async () => {
    const faults = await faultsWith('gateway/core/client.ts', `import check from 'fast-check';`);
    assert(faults.includes('fast-check is imported by the product and declared for development only'));
  });

  it('names a package that nothing imports', async () => {
    const faults = await packageFaults([await readSource('gateway/core/client.ts', `import Koa from 'koa';`)]);
    assert(faults.includes('pino is declared, not imported'));
    assert(!faults.some((fault) => fault.startsWith('koa ')));
  });
});
