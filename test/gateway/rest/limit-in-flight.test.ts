import assert from 'node:assert/strict';
import { OTHER_API_KEY, Stage } from '../stage.ts';
import { CAPTURE, PREAUTHORIZATION_ID } from './examples.ts';

/** Sends requests that core does not answer until end() is called. */
async function open(environment: Record<string, string>) {
  const stage = await new Stage().open(environment);
  const ended = Promise.withResolvers<void>();
  const later = (answer: object) => () => ended.promise.then(() => answer);
  stage.core.answers.set('listPreauthorizations', later({}));
  stage.core.answers.set('capturePreauthorization', later({ capture: CAPTURE }));
  const asked = async (count: number) => {
    while (stage.core.calls.length < count) await new Promise(setImmediate);
  };
  const list = (apiKey?: string) => stage.ask('GET', '/preauthorization', apiKey === undefined ? {} : { apiKey });
  const capture = (preauthorizationId: string) =>
    stage.ask('POST', '/preauthorization/authorization', { body: { preauthorizationId, amountToCapture: 1 } });
  return { stage, list, capture, asked, end: ended.resolve };
}

describe('concurrent requests at a gateway', () => {
  it("are refused over the merchant's share before core is called, and other merchants' are not", async () => {
    const { stage, list, asked, end } = await open({ REST_IN_FLIGHT: '8' });
    const admitted = Array.from({ length: 4 }, () => list());
    await asked(4);
    const { status, body, headers } = await list();
    assert.deepEqual([status, body.code, headers.get('retry-after')], [429, 'RATE_LIMITED', '1']);
    assert.equal(headers.get('connection'), 'keep-alive');
    assert.equal(stage.core.calls.length, 4);
    const others = list(OTHER_API_KEY);
    await asked(5);
    end();
    for (const answer of [...admitted, others]) assert.equal((await answer).status, 200);
    assert.equal((await list()).status, 200);
    await stage.close();
  });

  it('leave room for what the merchant does with its webhook, whichever of its keys floods', async () => {
    const { stage, list, asked, end } = await open({ REST_IN_FLIGHT: '8' });
    stage.core.answers.set('listDeliveries', () => ({}));
    const admitted = Array.from({ length: 4 }, () => list());
    await asked(4);
    assert.equal((await list()).status, 429);
    assert.equal((await stage.ask('GET', '/deliveries')).status, 200);
    end();
    for (const answer of admitted) assert.equal((await answer).status, 200);
    await stage.close();
  });

  it('get 503 when no slot is free', async () => {
    const { stage, list, asked, end } = await open({ REST_IN_FLIGHT: '2' });
    const admitted = [list(), list(OTHER_API_KEY)];
    await asked(2);
    const { status, body, headers } = await list();
    assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'UNAVAILABLE', '1']);
    end();
    for (const answer of admitted) assert.equal((await answer).status, 200);
    await stage.close();
  });

  it('are at most 32 captures of one hold, and captures of another hold go on', async () => {
    const { stage, capture, asked, end } = await open({});
    const admitted = Array.from({ length: 32 }, () => capture(PREAUTHORIZATION_ID));
    await asked(32);
    const { status, body, headers } = await capture(PREAUTHORIZATION_ID);
    assert.deepEqual([status, body.code, headers.get('retry-after')], [429, 'RATE_LIMITED', '1']);
    assert.equal(body.requestId, undefined);
    const another = capture(`pre_${'Y'.repeat(32)}`);
    await asked(33);
    end();
    for (const answer of [...admitted, another]) assert.equal((await answer).status, 200);
    assert.equal((await capture(PREAUTHORIZATION_ID)).status, 200);
    await stage.close();
  });

  const requestId = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
  for (const [method, path, body] of [
    ['POST', '/preauthorization/release', { requestId }],
    ['POST', '/preauthorization/increment', { preauthorizationId: PREAUTHORIZATION_ID, amountToAdd: 1 }],
    ['POST', '/preauthorization/extend', { preauthorizationId: PREAUTHORIZATION_ID }],
    ['POST', '/preauthorization/renew', { requestId }],
    ['POST', '/refund', { captureRequestId: requestId }],
    ['PATCH', `/preauthorization/${requestId}`, { description: 'room 12' }],
  ] as const) {
    it(`are at most 32 of ${method} ${path} about one hold`, async () => {
      const { stage, asked } = await open({});
      const ended = Promise.withResolvers<void>();
      const later = async () => {
        await ended.promise;
        return {};
      };
      for (const name of ['release', 'increment', 'extend', 'renew', 'update'])
        stage.core.answers.set(`${name}Preauthorization`, later);
      stage.core.answers.set('createRefund', later);
      const admitted = Array.from({ length: 32 }, () => stage.ask(method, path, { body }));
      await asked(32);
      const refused = await stage.ask(method, path, { body });
      assert.deepEqual([refused.status, refused.body.code], [429, 'RATE_LIMITED']);
      ended.resolve();
      await Promise.all(admitted);
      await stage.close();
    });
  }

  it("leave a merchant's other requests alone when captures of one hold are refused, and each is logged", async () => {
    const { stage, list, capture, asked, end } = await open({});
    const admitted = Array.from({ length: 32 }, () => capture(PREAUTHORIZATION_ID));
    await asked(32);
    const refused = await Promise.all(Array.from({ length: 120 }, () => capture(PREAUTHORIZATION_ID)));
    for (const { status, body } of refused) assert.deepEqual([status, body.code], [429, 'RATE_LIMITED']);
    const others = [list(), list(OTHER_API_KEY), capture(`pre_${'Y'.repeat(32)}`)];
    end();
    for (const answer of [...others, ...admitted]) assert.equal((await answer).status, 200);
    await stage.logged(() => stage.lines.filter(({ fields }) => fields.status === 429).length === 120);
    await stage.close();
  });
});
