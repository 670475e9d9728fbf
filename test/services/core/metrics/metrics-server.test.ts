import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { openLog } from '../../../../platform/log.ts';
import { metricsTokens, openMetricsServer } from '../../../../services/core/metrics/metrics-server.ts';

describe('openMetricsServer()', () => {
  it('shows the metrics to scrapers and operators, and to nobody else', async () => {
    const [scraper, next, operator] = ['s'.repeat(32), 'n'.repeat(32), 'o'.repeat(32)];
    const server = await openMetricsServer({
      registry: new Registry(),
      host: '127.0.0.1',
      port: 0,
      setting: 'CORE_METRICS_PORT',
      tokens: metricsTokens({ METRICS_TOKEN: `${scraper},${next}`, OPERATOR_TOKEN: operator }),
      isReady: () => true,
      log: openLog('test', 'silent'),
    });
    const scrape = async (authorization: string) =>
      (await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers: { authorization } })).status;
    for (const token of [scraper, next, operator]) assert.equal(await scrape(`Bearer ${token}`), 200);
    for (const shown of ['', 'Bearer ', `Bearer ${'x'.repeat(32)}`, `Basic ${scraper}`, `${scraper},${next}`]) {
      assert.equal(await scrape(shown), 401, shown);
    }
    await server.close();
  });
});
