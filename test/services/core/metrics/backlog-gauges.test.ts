import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { openLog } from '../../../../platform/log.ts';
import { exportBacklog } from '../../../../services/core/metrics/backlog-gauges.ts';
import { forSuite } from '../../../suite.ts';
import { openShop, sql } from '../shop.ts';
import { contract, openStage, refusal } from '../stage.ts';

const log = openLog('test', 'silent');

describe('exportBacklog()', () => {
  const stage = forSuite(openStage);

  const scrape = async (registry: Registry, name: string) => {
    const found = (await registry.getMetricsAsJSON()).find((metric) => metric.name === `holdfast_${name}`);
    return found?.values.map(({ labels, value }) => [...Object.values(labels), value].join(' '));
  };

  it('shows how many outcomes are unknown and since when', async () => {
    const { merchants } = stage.channel('operator');
    await merchants.createMerchant({ merchantId: 'acme', name: 'Acme', contract: contract() });
    const { holds } = stage.channel('internal');
    const hold = { merchantId: 'acme', amount: 100n, currency: 'EUR', terminalId: 'T1', userId: 'u' };
    // Those that are not answered take as long as core waits.
    const lost = holds.createPreauthorization({ ...hold, tokenId: 'tok_sandbox_timeout_lost' });
    await refusal(holds.createPreauthorization({ ...hold, tokenId: 'tok_sandbox_declined' }));
    const shop = openShop(stage, 'acme');
    await Promise.all([
      lost,
      shop.increment(await shop.hold({ tokenId: 'tok_sandbox_increment_timeout_lost' }), 1n),
      shop.extend(await shop.hold({ tokenId: 'tok_sandbox_extension_timeout_lost' })),
      shop.refund(await shop.captured(1n, { tokenId: 'tok_sandbox_refund_timeout_lost' })),
    ]);
    const registry = new Registry();
    const later = () => new Date(stage.clock.now() + 90_000);
    exportBacklog({ registry, database: stage.database, processors: stage.recovery.processors, clock: later, log });
    assert.deepEqual(await scrape(registry, 'unknown_outcomes'), [
      'HOLD default 1',
      'CAPTURE default 0',
      'RELEASE default 0',
      'PARTIAL_RELEASE default 0',
      'EXPIRY default 0',
      'LATE_VOID default 0',
      'INCREMENT default 1',
      'EXTENSION default 1',
      'RENEWAL default 0',
      'REFUND default 1',
      'OCT default 0',
    ]);
    const [age] = (await scrape(registry, 'unknown_outcome_oldest_age_seconds')) ?? [];
    assert.equal(age, 'HOLD default 90');
    assert.deepEqual(await scrape(registry, 'backlog_read_failures_total'), ['0']);
  });

  it('labels what is open by its processor, also by one that is gone', async () => {
    const text = "update hold set processor = $1, frozen = true where phase = 'UNKNOWN'";
    const processors = { names: ['sandbox', 'other'] };
    const lines = async (name: string) => {
      const registry = new Registry();
      exportBacklog({ registry, database: stage.database, processors, clock: () => new Date(), log });
      return (await scrape(registry, name))?.filter((line) => !line.endsWith(' 0'));
    };
    await sql(stage, text, ['other']);
    await sql(stage, "update submission set processor = 'other' where state = 'UNKNOWN'");
    const open = ['HOLD other 1', 'INCREMENT other 1', 'EXTENSION other 1', 'REFUND other 1'];
    assert.deepEqual((await lines('unknown_outcomes'))?.sort(), open.sort());
    assert.deepEqual(await lines('holds_frozen'), ['other 1']);
    await sql(stage, text, ['gone']);
    assert.deepEqual(await lines('holds_frozen'), ['gone 1']);
    await sql(stage, "update hold set phase = 'NEEDS_REVIEW' where phase = 'UNKNOWN'");
    assert.deepEqual(await lines('needs_review'), ['HOLD gone 1']);
  });

  it('shows how old the last verified backup is, and nothing where none was recorded or nothing is archived', async () => {
    const ages = async () => {
      const registry = new Registry();
      const { processors } = stage.recovery;
      exportBacklog({ registry, database: stage.database, processors, clock: () => new Date(), log });
      return [await scrape(registry, 'backup_age_seconds'), await scrape(registry, 'archive_age_seconds')].flat();
    };
    assert.deepEqual(await ages(), ['NaN', 'NaN']);
    await sql(stage, "update installation set backed_up_at = now() - interval '27 hours'");
    const [backup, archive] = await ages();
    assert.equal(Math.floor(Number(backup) / 3_600), 27);
    assert.equal(archive, 'NaN');
  });

  it('does not fail a scrape when the database is down', async () => {
    const registry = new Registry();
    const query = () => Promise.reject(new Error('connection refused'));
    const { processors } = stage.recovery;
    exportBacklog({ registry, database: { query }, processors, clock: () => new Date(), log });
    assert.match(await registry.metrics(), /^holdfast_backlog_read_failures_total 1$/m);
  });
});
