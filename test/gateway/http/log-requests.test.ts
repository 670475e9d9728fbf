import assert from 'node:assert/strict';
import { API_KEY, useStage } from '../stage.ts';

const OWN = '0f8fad5b-d9cb-469f-a165-70867728950e';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('X-Request-Id', () => {
  const stage = useStage();

  for (const path of ['/healthz', '/docs', '/preauthorization', '/nothing', '/webhook/processor/payment/captured']) {
    it(`is in the answer to GET ${path} and in its line of the log`, async () => {
      const { headers } = await stage.ask('GET', path);
      const name = headers.get('x-request-id') ?? '';
      assert.match(name, UUID);
      await stage.logged(({ event, fields }) => event === 'request' && fields.httpRequestId === name);
    });
  }

  it("is the client's when that is a UUID", async () => {
    const { headers } = await stage.ask('GET', '/healthz', { headers: { 'x-request-id': OWN } });
    assert.equal(headers.get('x-request-id'), OWN);
  });

  for (const given of [
    API_KEY,
    '4242424242424242',
    `${OWN}${OWN}`,
    `pre_${'x'.repeat(32)}`,
    'order 1',
    OWN.toUpperCase(),
  ]) {
    it(`ignores any other value that a client sends: ${given}`, async () => {
      const { headers } = await stage.ask('GET', '/healthz', { headers: { 'x-request-id': given } });
      assert.match(headers.get('x-request-id') ?? '', UUID);
      assert.notEqual(headers.get('x-request-id'), given);
      assert(!JSON.stringify(stage.lines).includes(given));
    });
  }

  it('is logged with the cause of an unexpected failure', async () => {
    const { status, headers } = await stage.ask('GET', `/oct/${OWN}`);
    assert.equal(status, 500);
    const name = headers.get('x-request-id');
    await stage.logged(({ event, fields }) => event === 'request failed' && fields.httpRequestId === name);
  });
});
