import assert from 'node:assert/strict';
import { breaches } from '../../.ci/import-rules.ts';
import { readSource } from '../../.ci/sources.ts';

describe('the import rules', () => {
  const refused = [
    ['gateway/core/client.ts', `import { judgeCapture } from '../../services/core/domain/hold-rules.ts';`],
    ['gateway/core/client.ts', `import type { HoldState } from '../../services/core/domain/hold-rules.ts';`],
    ['gateway/rest/rest.ts', `type Hold = import('../../services/core/domain/hold-rules.ts').HoldState;`],
    ['gateway/operator/operator.ts', `import { createRest } from '../rest/rest.ts';`],
    ['gateway/rest/rest.ts', `import type { OperatorRoute } from '../operator/route.ts';`],
    ['gateway/relay/relay.ts', `import { createConsole } from '../console/console.ts';`],
    ['gateway/http/route.ts', `import { readInput } from '../resource/read-input.ts';`],
    ['gateway/limits/limits.ts', `import { startGateway } from '../gateway.ts';`],
    ['services/core/start/start-core.ts', `export { startSandbox } from '../../sandbox/sandbox.ts';`],
    ['services/quickstart/quickstart.ts', `const { startCore } = await import('../core/start-core.ts');`],
    ['services/core/start/start-core.ts', `import { createDatabase } from '../../test/database.ts';`],
    ['platform/grpc-client.ts', `import { log } from '../gateway/log.ts';`],
    ['services/core/start/start-core.ts', `import { RpcError } from '../../platform/adapter/serve.ts';`],
    ['client/webhooks/signature.ts', `import { openLog } from '../../platform/log.ts';`],
    ['client/holdfast.ts', `import { openLog } from '../platform/log.ts';`],
    ['gateway/gateway.ts', `import { Holdfast } from '../client/holdfast.ts';`],
    ['proto/gen/index.ts', `import { openLog } from '../../platform/log.ts';`],
    ['services/core/delivery/queue.ts', `import { pino } from 'pino';`],
    ['services/core/domain/hold-rules.ts', `import { Hold } from '../storage/hold.ts';`],
    ['services/core/domain/hold-rules.ts', `import { readFile } from 'node:fs/promises';`],
    ['services/core/domain/hold-rules.ts', `import { create } from '@bufbuild/protobuf';`],
    ['services/core/domain/refusal.ts', `import { ErrorReason } from '../../../proto/gen/holdfast/v1/error_pb.js';`],
    ['services/core/domain/hold-rules.ts', `export const now = () => new Date();`],
    ['services/core/domain/hold-rules.ts', `export const now = () => Date.now();`],
    ['services/core/domain/hold-rules.ts', `export const chance = () => Math.random();`],
    ['services/core/domain/hold-rules.ts', `export const home = process.env.HOME;`],
    ['services/core/storage/migrate-database.ts', `import { Deliverer } from '../delivery/deliverer.ts';`],
    ['services/core/storage/merchant/merchant-row.ts', `import type { Health } from '../../health/watch-health.ts';`],
    ['services/core/delivery/make-attempt.ts', `import type { Recovery } from '../recovery/inquire-open.ts';`],
    ['services/core/metrics/core-metrics.ts', `import type { Admission } from '../rpc/server/admission.ts';`],
    ['services/core/processor/processor.ts', `import type { HoldRow } from '../storage/hold/hold-row.ts';`],
    ['services/core/reports/overview-counts.ts', `import { settle } from '../books/books.ts';`],
    ['services/core/rpc/pages.ts', `import { startCore } from '../start/start-core.ts';`],
    ['services/core/rpc/merchant/merchants.ts', `import { LockMode } from '@mikro-orm/core';`],
    ['services/core/start/start-core.ts', `import type { MikroORM } from '@mikro-orm/postgresql';`],
    ['services/core/delivery/deliverer.ts', `import { entityManager } from '../storage/orm.ts';`],
    ['services/core/jobs/purge.ts', 'export const purge = 1;'],
    ['services/core/rpc/merchant/watch-credentials.ts', `import { Agent } from 'undici';`],
    ['services/core/rpc/merchant/watch-credentials.ts', 'const text = `insert into nonce values ($1)`;'],
    ['services/core/delivery/deliverer.ts', `query({ name: 'due', text: 'select id from delivery' });`],
    ['services/core/health/watch-health.ts', 'const text = `with input as (select 1) select * from input`;'],
  ] as const;
  for (const [path, text] of refused) {
    it(`refuses ${text} in ${path}`, async () => {
      assert.equal(breaches([await readSource(path, text)]).length, 1);
    });
  }

  const allowed = [
    ['gateway/core/client.ts', `import { openChannel } from '../../platform/grpc-client.ts';\nimport Koa from 'koa';`],
    ['gateway/relay/verify.ts', `import { verifyNotification } from '../../client/webhooks/signature.ts';`],
    ['services/merchant/merchant.ts', `import { Holdfast } from '../../client/holdfast.ts';`],
    ['services/stripe/adapter-context.ts', `import { RpcError } from '../../platform/adapter/serve.ts';`],
    ['gateway/openapi/document.ts', `import { REST_ROUTES } from '../rest/rest.ts';`],
    ['gateway/gateway.ts', `import { createRest } from './rest/rest.ts';`],
    ['services/core/rpc/present.ts', `import { judgeCapture } from '../domain/hold-rules.ts';`],
    [
      'services/core/domain/refusal.ts',
      `import type { ErrorReason } from '../../../proto/gen/holdfast/v1/error_pb.js';`,
    ],
    ['services/core/domain/hold-rules.ts', `export const later = (now: Date) => new Date(now.getTime() + 1);`],
    ['test/stack.ts', `import { startQuickstart } from '../services/quickstart/quickstart.ts';`],
    ['services/core/storage/endpoint/endpoint-terms.ts', `import type { Cipher } from '../cipher.ts';`],
    [
      'services/core/rpc/merchant/merchants.ts',
      `import type { MerchantRow } from '../../storage/merchant/merchant-row.ts';`,
    ],
    ['services/core/start/start-worker.ts', `import { Deliverer } from '../delivery/deliverer.ts';`],
    ['services/core/reports/overview-counts.ts', `const text = 'select count(*) from hold';`],
    ['services/core/rpc/refusals.ts', `const why = 'select another currency';`],
  ] as const;
  for (const [path, text] of allowed) {
    it(`allows ${text.replace('\n', ' ')} in ${path}`, async () => {
      assert.deepEqual(breaches([await readSource(path, text)]), []);
    });
  }
});
