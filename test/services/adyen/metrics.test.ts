import assert from 'node:assert/strict';
import { forSuite } from '../../suite.ts';
import { captureRequest, METRICS_TOKEN, startFixture } from './fixture.ts';

describe('the metrics of the adapter to Adyen', () => {
  const fixture = forSuite(startFixture);

  it('count what waits, and the answers of Adyen', async () => {
    const hold = await fixture.placed();
    await fixture.client.capture(captureRequest(hold));
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const response = await fetch(`http://127.0.0.1:${fixture.adapter.metricsPort}/metrics`, { headers });
    const text = await response.text();
    assert.match(text, /^holdfast_adyen_waiting\{what="operations"\} 1$/m);
    assert.match(text, /^holdfast_adyen_waiting\{what="notices"\} 0$/m);
    assert.match(text, /^holdfast_adyen_answers_total\{status="200"\} 1$/m);
    assert.match(text, /^holdfast_adyen_answers_total\{status="201"\} 1$/m);
    await fixture.notify();
    const later = await fetch(`http://127.0.0.1:${fixture.adapter.metricsPort}/metrics`, { headers });
    assert.match(await later.text(), /^holdfast_adyen_waiting\{what="operations"\} 0$/m);
  });

  it('need the token', async () => {
    const response = await fetch(`http://127.0.0.1:${fixture.adapter.metricsPort}/metrics`);
    assert.equal(response.status, 401);
  });
});
