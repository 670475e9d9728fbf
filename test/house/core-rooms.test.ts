import assert from 'node:assert/strict';
import { coreBreaches } from '../../.ci/core-rooms.ts';
import { readSource } from '../../.ci/sources.ts';

describe('the table of rooms', () => {
  const read = (files: readonly (readonly [path: string, text: string])[]) =>
    Promise.all(files.map(([path, text]) => readSource(`services/core/${path}`, text)));

  const refused = [
    ['storage/migrate-database.ts', `import { Deliverer } from '../delivery/deliverer.ts';`],
    ['storage/merchant/merchant-row.ts', `import type { Health } from '../../health/watch-health.ts';`],
    ['delivery/make-attempt.ts', `import type { Recovery } from '../recovery/inquire-open.ts';`],
    ['metrics/core-metrics.ts', `import type { Admission } from '../rpc/server/admission.ts';`],
    ['processor/processor.ts', `import type { HoldRow } from '../storage/hold/hold-row.ts';`],
    ['reports/overview-counts.ts', `import { settle } from '../books/books.ts';`],
    ['rpc/pages.ts', `import { startCore } from '../start/start-core.ts';`],
    ['rpc/merchant/merchants.ts', `import { LockMode } from '@mikro-orm/core';`],
    ['start/start-core.ts', `import type { MikroORM } from '@mikro-orm/postgresql';`],
    ['rpc/merchant/merchants.ts', `import { MerchantEntity } from '../../storage/merchant/merchant-row.ts';`],
    ['delivery/deliverer.ts', `import { entityManager } from '../storage/orm.ts';`],
    ['purge.ts', 'export const purge = 1;'],
    ['jobs/purge.ts', 'export const purge = 1;'],
    ['rpc/merchant/watch-credentials.ts', `import { Agent } from 'undici';`],
    ['rpc/merchant/watch-credentials.ts', 'const text = `insert into nonce values ($1)`;'],
    ['delivery/deliverer.ts', `query({ name: 'due', text: 'select id from delivery' });`],
    ['health/watch-health.ts', 'const text = `with input as (select 1) select * from input`;'],
  ] as const;
  for (const [path, text] of refused) {
    it(`refuses ${text} in ${path}`, async () => {
      assert.equal(coreBreaches(await read([[path, text]])).length, 1);
    });
  }

  const allowed = [
    ['storage/endpoint/endpoint-terms.ts', `import type { Cipher } from '../cipher.ts';`],
    ['rpc/merchant/merchants.ts', `import type { MerchantRow } from '../../storage/merchant/merchant-row.ts';`],
    ['start/start-worker.ts', `import { Deliverer } from '../delivery/deliverer.ts';`],
    ['reports/overview-counts.ts', `const text = 'select count(*) from hold';`],
    ['rpc/refusals.ts', `const why = 'select another currency';`],
  ] as const;
  for (const [path, text] of allowed) {
    it(`allows ${text} in ${path}`, async () => {
      assert.deepEqual(coreBreaches(await read([[path, text]])), []);
    });
  }
});
