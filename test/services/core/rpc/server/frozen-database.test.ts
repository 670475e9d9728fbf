import assert from 'node:assert/strict';
import { createContextValues } from '@connectrpc/connect';
import { MerchantService } from '../../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { OperationService } from '../../../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { HoldfastError } from '../../../../../services/core/domain/refusal.ts';
import { callerKey } from '../../../../../services/core/rpc/server/caller.ts';
import { takesTurns } from '../../../../../services/core/rpc/server/takes-turns.ts';
import { runningMs } from '../../../../running-ms.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

describe('lists while the database is frozen', () => {
  const stage = forSuite(openStage);

  it('are refused within a few seconds, however many wait', async () => {
    await openMerchant(stage, 'acme');
    const { holds, operations } = stage.channel('operator');
    const [operators, merchants] = [
      stage.client('operator', OperatorService),
      stage.client('operator', MerchantService),
    ];
    await holds.listPreauthorizations({});
    const backends = await sql<{ pid: number }>(
      stage,
      'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
      for (const { pid } of backends) process.kill(pid, name);
    };
    signal('SIGSTOP');
    try {
      const startedMs = runningMs();
      const lists = [
        holds.listPreauthorizations({}),
        operations.listOperations({}),
        operators.getOverview({}),
        operators.listAuditEntries({}),
        merchants.listMerchants({}),
      ];
      for (const answer of await Promise.all(lists.map(why))) assert.equal(answer, 'UNAVAILABLE');
      const tookMs = runningMs() - startedMs;
      // One after the other they would wait 2.5 s each.
      assert(tookMs < 10_000, `${tookMs} ms`);
    } finally {
      signal('SIGCONT');
    }
  });

  it('are refused, not failed, when one statement takes too long', async () => {
    const stopped = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
    const call = takesTurns()(async () => Promise.reject(stopped));
    const request = {
      stream: false,
      method: OperationService.method.listOperations,
      message: {},
      contextValues: createContextValues().set(callerKey, { role: 'gateway' }),
    };
    await assert.rejects(call(request as never), (error) => {
      assert(error instanceof HoldfastError);
      assert.equal(error.code, 'UNAVAILABLE');
      assert.match(error.message, /took too long/);
      return true;
    });
  });
});
