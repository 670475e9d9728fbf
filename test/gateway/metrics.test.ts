import assert from 'node:assert/strict';
import { OPERATOR_TOKEN, TOKEN } from './fake-core.ts';
import { API_KEY, useStage } from './stage.ts';

describe('GET /metrics', () => {
  const SCRAPER = 's'.repeat(40);
  const stage = useStage({ TRUSTED_PROXY_HOPS: '1', METRICS_TOKEN: `${'n'.repeat(32)},${SCRAPER}` });
  const scrape = (token: string | null, sender = '192.0.2.1') =>
    stage.ask('GET', '/metrics', { apiKey: token, headers: { 'x-forwarded-for': sender } });

  it('returns the Prometheus text format to an operator', async () => {
    const { status, text, headers } = await scrape(OPERATOR_TOKEN);
    assert.equal(status, 200);
    assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(text, /^holdfast_credentials_fresh 1$/m);
  });

  it('is for operators only, and guesses are limited', async () => {
    for (const token of [null, API_KEY, TOKEN, 'x'.repeat(40), 'short']) {
      assert.equal((await scrape(token, '192.0.2.2')).status, 401);
    }
    const guesses = await Promise.all(Array.from({ length: 4 }, () => scrape('y'.repeat(40), '192.0.2.2')));
    assert(guesses.some(({ status, body }) => status === 429 && body.code === 'RATE_LIMITED'));
    assert.equal((await scrape(OPERATOR_TOKEN, '192.0.2.2')).status, 200);
  });

  it('is open to a token of its own, which opens nothing else', async () => {
    for (const token of [SCRAPER, 'n'.repeat(32)]) assert.equal((await scrape(token)).status, 200);
    for (const path of ['/operator/overview', '/operator/merchants', '/webhook-endpoint']) {
      assert.equal((await stage.ask('GET', path, { apiKey: SCRAPER })).status, 401, path);
    }
  });

  it('accepts operators known before core went down, and no others', async () => {
    stage.core.stop();
    assert.equal((await scrape(OPERATOR_TOKEN)).status, 200);
    assert.equal((await scrape('z'.repeat(40), '192.0.2.3')).status, 503);
  });
});
