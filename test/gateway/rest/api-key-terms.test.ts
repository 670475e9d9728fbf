import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { SCOPES, type Scope } from '../../../gateway/http/scopes.ts';
import { REST_ROUTES } from '../../../gateway/rest/rest.ts';
import { MERCHANTS, useStage } from '../stage.ts';
import { CAPTURE, CAPTURE_HOLD, CREATE_HOLD, CREATE_OCT, HOLD, HOLD_ID } from './examples.ts';

describe('an API key with terms', () => {
  const stage = useStage({ TRUSTED_PROXY_HOPS: '1' }, { heartbeatMs: 10_000 });
  let number = 0;

  interface Terms {
    readonly scopes?: readonly Scope[];
    readonly expiresAtMs?: number;
    readonly allowedCidrs?: readonly string[];
  }

  /** Gives the merchant a key, beside its others, and returns it. */
  function keyWith({ scopes = SCOPES, expiresAtMs, allowedCidrs = [] }: Terms): string {
    const apiKey = `hf_${String(++number).padStart(43, 'k')}`;
    const expiresAt = expiresAtMs === undefined ? undefined : timestampFromMs(expiresAtMs);
    const restricted = [{ apiKey, scopes: [...scopes], expiresAt, allowedCidrs: [...allowedCidrs] }];
    const [acme, ...others] = MERCHANTS;
    assert(acme);
    stage.core.setMerchants([{ ...acme, restricted }, ...others]);
    return apiKey;
  }

  /** Sends a request until the gateway knows the key. */
  async function ask(apiKey: string, method: string, path: string, body?: object, headers?: Record<string, string>) {
    const send = () => stage.ask(method, path, { apiKey, ...(body && { body }), ...(headers && { headers }) });
    let answer = await send();
    for (let tries = 0; answer.status === 401 && tries < 100; tries++) answer = await send();
    return answer;
  }

  it('has a scope for every route', () => {
    for (const [name, { scope, codes }] of Object.entries(REST_ROUTES)) {
      assert(scope && SCOPES.includes(scope), name);
      assert(codes.includes('FORBIDDEN'), name);
    }
  });

  it('does what its scopes allow, and nothing else, on every route', async () => {
    const path = (template: string) => template.replace('{endpointId}', 'default').replace(/\{\w+\}/g, HOLD_ID);
    for (const scope of SCOPES) {
      const apiKey = keyWith({ scopes: [scope] });
      for (const [name, route] of Object.entries(REST_ROUTES)) {
        if (route.answers[200]?.event && route.scope === scope) continue;
        const answer = await ask(apiKey, route.method.toUpperCase(), path(route.path), route.body && {});
        const isForbidden = answer.status === 403 && /does not have the scope/.test(answer.body.detail);
        assert.equal(isForbidden, route.scope !== scope, `${name} with ${scope}: ${answer.text}`);
        if (isForbidden) assert.match(answer.body.detail, new RegExp(`the scope ${route.scope}\\.$`));
      }
    }
  });

  it('charges nothing by itself without the scope of captures', async () => {
    stage.core.answers.set('createPreauthorization', () => ({ preauthorization: HOLD, state: 4 }));
    stage.core.answers.set('updatePreauthorization', () => ({ preauthorization: HOLD }));
    const captureAt = new Date(Date.now() + 3_600_000).toISOString();
    for (const [scopes, status] of [
      [['hold'], 403],
      [['hold', 'capture'], 201],
    ] as const) {
      const apiKey = keyWith({ scopes });
      const placed = await ask(apiKey, 'POST', '/preauthorization', { ...CREATE_HOLD, captureAt });
      assert.equal(placed.status, status);
      const changed = await ask(apiKey, 'PATCH', `/preauthorization/${HOLD_ID}`, { captureAt });
      assert.equal(changed.status, status === 201 ? 200 : 403);
      if (status === 403) assert.match(placed.body.detail, /the scope capture/);
      assert.equal((await ask(apiKey, 'PATCH', `/preauthorization/${HOLD_ID}`, { captureAt: null })).status, 200);
    }
  });

  it('is judged by its scopes before its body, and a stolen one for captures pays nobody', async () => {
    stage.core.answers.set('capturePreauthorization', () => ({ capture: CAPTURE }));
    const apiKey = keyWith({ scopes: ['capture'] });
    assert.equal((await ask(apiKey, 'POST', '/preauthorization/authorization', CAPTURE_HOLD)).status, 200);
    stage.core.forgetCalls();
    for (const [path, body] of [
      ['/oct', CREATE_OCT],
      ['/refund', { captureRequestId: HOLD_ID }],
    ] as const)
      assert.equal((await ask(apiKey, 'POST', path, body)).status, 403);
    assert.deepEqual(stage.core.calls, []);
  });

  it('ends by itself, and with it its streams, within 5 s', async () => {
    stage.core.answers.set('getContract', () => ({ contract: {} }));
    stage.core.onWatch = (call) => void call.write(stage.core.watchMessage({ resumeToken: 't' }));
    const apiKey = keyWith({ expiresAtMs: Date.now() + 1_500 });
    assert.equal((await ask(apiKey, 'GET', '/contract')).status, 200);
    const stream = await stage.fetch('GET', '/operations/stream', { apiKey });
    assert.equal(stream.status, 200);
    const read = stream.text();
    const beats = setInterval(() => stage.core.beat(), 500);
    const endsAtMs = Date.now() + 6_500;
    await read;
    clearInterval(beats);
    assert(Date.now() < endsAtMs);
    const answer = await stage.ask('GET', '/contract', { apiKey });
    assert.equal(answer.status, 401);
    assert.match(answer.body.detail, /expired/);
  });

  it('works from its networks only, as the trusted proxy says', async () => {
    stage.core.answers.set('getContract', () => ({ contract: {} }));
    const apiKey = keyWith({ allowedCidrs: ['192.0.2.0/24', '2001:db8::/48'] });
    const from = async (address: string) =>
      (await ask(apiKey, 'GET', '/contract', undefined, { 'x-forwarded-for': address })).status;
    assert.equal(await from('192.0.2.7'), 200);
    assert.equal(await from('2001:db8::1'), 200);
    assert.equal(await from('192.0.3.7'), 403);
    assert.equal(await from('192.0.2.7, 198.51.100.1'), 403, 'what a client claims itself does not count');
    assert.equal(await from('unknown'), 403);
  });
});
