import assert from 'node:assert/strict';
import { useStage } from '../../stage.ts';
import { CAPTURE, HOLD, HOLD_ID, PREAUTHORIZATION_ID } from '../examples.ts';

describe('what is said of an operation on a hold', () => {
  const stage = useStage();
  const { core } = stage;

  it('passes the currency on, to captures, increments, releases and renewals', async () => {
    for (const [path, method, more] of [
      ['authorization', 'capturePreauthorization', { amountToCapture: 1 }],
      ['increment', 'incrementPreauthorization', { amountToAdd: 1 }],
      ['release', 'releasePreauthorization', {}],
      ['renew', 'renewPreauthorization', {}],
    ] as const) {
      core.answers.set(method, () => ({ capture: CAPTURE, preauthorization: HOLD, requestId: HOLD_ID, state: 4 }));
      const body = { preauthorizationId: PREAUTHORIZATION_ID, ...more };
      await stage.ask('POST', `/preauthorization/${path}`, { body: { ...body, currency: 'ANG' } });
      assert.equal(core.lastRequest.currency, 'ANG', path);
      await stage.ask('POST', `/preauthorization/${path}`, { body });
      assert.equal('currency' in core.lastRequest, false, path);
      const { status, body: refused } = await stage.ask('POST', `/preauthorization/${path}`, {
        body: { ...body, currency: 'eur' },
      });
      assert.equal(status, 400, path);
      assert.deepEqual((refused as { errors: unknown }).errors, [
        { field: 'currency', message: 'must be three capital letters, such as EUR' },
      ]);
    }
  });

  it('passes the part of a release on, and answers with what it gave back', async () => {
    const released = { preauthorization: { ...HOLD, amountReleased: 7n }, requestId: HOLD_ID, state: 4 };
    const release = (fields: object) =>
      stage.ask('POST', '/preauthorization/release', { body: { preauthorizationId: PREAUTHORIZATION_ID, ...fields } });
    core.answers.set('partiallyReleasePreauthorization', () => ({ ...released, amountReleased: 5n }));
    const { status, body } = await release({ amountToRelease: 5 });
    assert.deepEqual([status, body.release, body.amountReleased], [200, { amountReleased: 5 }, 7]);
    assert.equal(core.lastRequest.amountToRelease, 5n);
    core.answers.set('releasePreauthorization', () => released);
    assert.equal('release' in (await release({})).body, false);
    assert.equal('amountToRelease' in core.lastRequest, false);
    for (const amountToRelease of [0, -1, 0.5, '5', 1_000_000_000_000, null]) {
      const refused = await release({ amountToRelease });
      assert.equal(refused.status, 400);
      const [error] = (refused.body as { errors: { field: string }[] }).errors;
      assert.equal(error?.field, 'amountToRelease');
    }
  });

  it('passes on what the merchant says of an operation, and answers with it', async () => {
    const words = { merchantReference: 'parcel-1', metadata: { parcel: '1' }, reason: 'It has left' };
    for (const [path, method, more, shown] of [
      ['authorization', 'capturePreauthorization', { amountToCapture: 1 }, words],
      ['increment', 'incrementPreauthorization', { amountToAdd: 1 }, words],
      ['release', 'releasePreauthorization', {}, { release: words, merchantReference: 'order-1' }],
    ] as const) {
      const change = { preauthorization: HOLD, requestId: HOLD_ID, state: 4, ...words };
      core.answers.set(method, () => ({ capture: { ...CAPTURE, ...words }, ...change }));
      const body = { preauthorizationId: PREAUTHORIZATION_ID, ...more };
      const { status, body: answer } = await stage.ask('POST', `/preauthorization/${path}`, {
        body: { ...body, ...words },
      });
      assert.equal(status, 200, path);
      const { merchantReference, metadata, reason } = core.lastRequest;
      assert.deepEqual({ merchantReference, metadata, reason }, words, path);
      for (const [name, value] of Object.entries(shown)) assert.deepEqual(answer[name], value, `${path} ${name}`);
      core.answers.set(method, () => ({
        capture: CAPTURE,
        ...change,
        merchantReference: '',
        metadata: {},
        reason: '',
      }));
      const { body: plain } = await stage.ask('POST', `/preauthorization/${path}`, { body });
      assert.deepEqual(['reason' in plain, 'release' in plain], [false, false], path);
      for (const wrong of [{ reason: '' }, { reason: 'x'.repeat(251) }, { reason: '4242424242424242' }]) {
        const refused = await stage.ask('POST', `/preauthorization/${path}`, { body: { ...body, ...wrong } });
        assert.equal(refused.status, 400, path);
      }
    }
  });
});
