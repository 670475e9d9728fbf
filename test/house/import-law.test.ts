import assert from 'node:assert/strict';
import { breaches } from '../../.ci/import-law.ts';
import { readSource, readSources } from '../../.ci/sources.ts';

describe('the import law', () => {
  it('is kept', async () => {
    assert.deepEqual(breaches(await readSources()), []);
  });

  const refused = [
    ['gateway/core.ts', `import { judgeCapture } from '../services/core/domain/hold.ts';`],
    ['gateway/core.ts', `import type { HoldState } from '../services/core/domain/hold.ts';`],
    ['gateway/rest/rest.ts', `type Hold = import('../../services/core/domain/hold.ts').HoldState;`],
    ['services/core/start-core.ts', `export { startSandbox } from '../sandbox/sandbox.ts';`],
    ['services/quickstart/quickstart.ts', `const { startCore } = await import('../core/start-core.ts');`],
    ['services/core/start-core.ts', `import { createDatabase } from '../../test/database.ts';`],
    ['proto/grpc.ts', `import { log } from '../gateway/log.ts';`],
    ['services/core/jobs/queue.ts', `import { pino } from 'pino';`],
    ['services/core/domain/hold.ts', `import { Hold } from '../storage/hold.ts';`],
    ['services/core/domain/hold.ts', `import { readFile } from 'node:fs/promises';`],
    ['services/core/domain/hold.ts', `import { create } from '@bufbuild/protobuf';`],
    ['services/core/domain/refusal.ts', `import { ErrorReason } from '../../../proto/gen/holdfast/v1/error_pb.js';`],
    ['services/core/domain/hold.ts', `export const now = () => new Date();`],
    ['services/core/domain/hold.ts', `export const now = () => Date.now();`],
    ['services/core/domain/hold.ts', `export const chance = () => Math.random();`],
    ['services/core/domain/hold.ts', `export const home = process.env.HOME;`],
  ] as const;
  for (const [path, text] of refused) {
    it(`refuses ${text} in ${path}`, async () => {
      assert.equal(breaches([await readSource(path, text)]).length, 1);
    });
  }

  const allowed = [
    ['gateway/core.ts', `import { openChannel } from '../proto/grpc.ts';\nimport Koa from 'koa';`],
    ['services/core/rpc/present.ts', `import { judgeCapture } from '../domain/hold.ts';`],
    [
      'services/core/domain/refusal.ts',
      `import type { ErrorReason } from '../../../proto/gen/holdfast/v1/error_pb.js';`,
    ],
    ['services/core/domain/hold.ts', `export const later = (now: Date) => new Date(now.getTime() + 1);`],
    ['test/stack.ts', `import { startQuickstart } from '../services/quickstart/quickstart.ts';`],
  ] as const;
  for (const [path, text] of allowed) {
    it(`allows ${text.replace('\n', ' ')} in ${path}`, async () => {
      assert.deepEqual(breaches([await readSource(path, text)]), []);
    });
  }
});
