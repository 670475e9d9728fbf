import assert from 'node:assert/strict';
import { circleFaults } from '../../.ci/circles.ts';
import { readSource } from '../../.ci/sources.ts';

describe('circles of imports', () => {
  it('are found, of types too, however long, in every part of the tree', async () => {
    for (const room of ['services/core/storage', 'gateway/relay', 'platform', 'test/torture']) {
      const files = [
        ['a.ts', `import { b } from './b.ts';`],
        ['b.ts', `import type { C } from './c.ts';`],
        ['c.ts', `import './a.ts';`],
        ['d.ts', `import './a.ts';`],
      ] as const;
      const sources = await Promise.all(files.map(([name, text]) => readSource(`${room}/${name}`, text)));
      assert.deepEqual(circleFaults(sources), [`${room}/a.ts -> ${room}/b.ts -> ${room}/c.ts is a circle`]);
    }
  });
});
