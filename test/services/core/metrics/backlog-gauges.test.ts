import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { openLog } from '../../../../platform/log.ts';
import { exportBacklog } from '../../../../services/core/metrics/backlog-gauges.ts';
import { contract, openStage, refusal, type Stage } from '../stage.ts';

const log = openLog('test', 'silent');

describe('exportBacklog()', function () {
  this.timeout(60_000);
  let stage: Stage;
  before(async () => {
    stage = await openStage({ processorTimeoutMs: 200 });
  });
  after(() => stage.close());

  const scrape = async (registry: Registry, name: string) => {
    const found = (await registry.getMetricsAsJSON()).find((metric) => metric.name === `holdfast_${name}`);
    return found?.values.map(({ labels, value }) => [...Object.values(labels), value].join(' '));
  };

  it('tells how many outcomes are unknown and since when', async () => {
    const { merchants } = stage.channel('operator');
    await merchants.createMerchant({ merchantId: 'acme', name: 'Acme', contract: contract() });
    const { holds } = stage.channel('internal');
    const hold = { merchantId: 'acme', amount: 100n, currency: 'EUR', terminalId: 'T1', userId: 'u' };
    await holds.createPreauthorization({ ...hold, tokenId: 'tok_sandbox_timeout_lost' });
    await refusal(holds.createPreauthorization({ ...hold, tokenId: 'tok_sandbox_declined' }));
    const registry = new Registry();
    const later = () => new Date(stage.clock.now() + 90_000);
    exportBacklog({ registry, database: stage.database, clock: later, log });
    assert.deepEqual(await scrape(registry, 'unknown_outcomes'), ['HOLD 1', 'CAPTURE 0', 'RELEASE 0', 'OCT 0']);
    const [age] = (await scrape(registry, 'unknown_outcome_oldest_age_seconds')) ?? [];
    assert.equal(age, 'HOLD 90');
    assert.deepEqual(await scrape(registry, 'backlog_read_failures_total'), ['0']);
  });

  it('never fails a scrape when the database is away', async () => {
    const registry = new Registry();
    const query = () => Promise.reject(new Error('connection refused'));
    exportBacklog({ registry, database: { query }, clock: () => new Date(), log });
    assert.match(await registry.metrics(), /^holdfast_backlog_read_failures_total 1$/m);
  });
});
