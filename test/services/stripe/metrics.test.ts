import assert from 'node:assert/strict';
import { forSuite } from '../../suite.ts';
import { captureRequest, METRICS_TOKEN, startFixture } from './fixture.ts';

describe('the metrics of the adapter', () => {
  const fixture = forSuite(startFixture);
  const get = async (path: string, token = METRICS_TOKEN) => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`http://127.0.0.1:${fixture.adapter.metricsPort}${path}`, { headers });
    return { status: response.status, text: await response.text() };
  };

  it('count what waits, and the answers of Stripe', async () => {
    const hold = await fixture.placed();
    fixture.stripe.fail('POST /v1/payment_intents/…/capture', 'bad gateway before', 99);
    await assert.rejects(fixture.client.capture(captureRequest(hold, 1_000n)));
    fixture.stripe.faults.length = 0;
    const { status, text } = await get('/metrics');
    assert.equal(status, 200);
    assert.match(text, /^holdfast_stripe_waiting\{what="operations"\} 1$/m);
    assert.match(text, /^holdfast_stripe_waiting\{what="events"\} 0$/m);
    assert.match(text, /^holdfast_stripe_oldest_event_seconds 0$/m);
    assert.match(text, /^holdfast_stripe_answers_total\{status="502"\} [1-9]/m);
  });

  it('need the token; health does not', async () => {
    assert.equal((await get('/metrics', 'x'.repeat(32))).status, 401);
    assert.deepEqual(await get('/healthz', ''), { status: 200, text: 'ok\n' });
    assert.deepEqual(await get('/readyz', ''), { status: 200, text: 'ready\n' });
    assert.equal((await get('/else')).status, 404);
  });
});
