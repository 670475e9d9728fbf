import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { signNotification } from '../../../client/webhooks/signature.ts';
import { type Gateway, startGateway } from '../../../gateway/gateway.ts';
import { GATEWAY_SETTINGS } from '../../../gateway/settings.ts';
import { openLog } from '../../../platform/log.ts';
import { readSettings } from '../../../platform/settings.ts';
import { openMerchant, sql } from '../../services/core/shop.ts';
import { openStage, type Stage } from '../../services/core/stage.ts';

/** The routes for operators with a real core: checks what the fakes of the other tests assume. */
describe('Operator routes, with a core behind them', () => {
  let stage: Stage;
  let acme: Awaited<ReturnType<typeof openMerchant>>;
  const gateways: Gateway[] = [];
  let environment: NodeJS.ProcessEnv = {};
  let cookie = '';
  let csrfToken = '';

  before(async () => {
    stage = await openStage();
    // Sessions end by the gateways' clock, which is the machine's.
    stage.clock.advance(Date.now() - stage.clock.now());
    acme = await openMerchant(stage, 'acme');
    environment = {
      GATEWAY_TOKEN: stage.tokens.gateway,
      CORE_URL: `127.0.0.1:${stage.cores[0]?.corePort}`,
      PORT: '0',
    };
    for (let i = 0; i < 2; i++) {
      gateways.push(
        await startGateway(readSettings(GATEWAY_SETTINGS, environment), { log: openLog('test', 'silent') }),
      );
      await gateways[i]?.ready;
    }
  });
  after(async () => {
    for (const gateway of gateways) await gateway.close();
    await stage.close();
  });

  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of the body.
  async function ask(method: string, path: string, body?: object, gateway = 0): Promise<{ status: number; body: any }> {
    const response = await fetch(`http://127.0.0.1:${gateways[gateway]?.port}/operator${path}`, {
      method,
      headers: {
        ...(cookie !== '' && { cookie, 'x-csrf-token': csrfToken }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const set = response.headers.getSetCookie()[0]?.split(';')[0];
    if (set) cookie = set;
    const text = await response.text();
    return { status: response.status, body: text && JSON.parse(text) };
  }

  it('reject the token of another role', async () => {
    for (const token of [stage.tokens.gateway, stage.tokens.internal, stage.tokens.processor, acme.apiKey]) {
      assert.equal((await ask('POST', '/session', { token })).status, 401);
    }
  });

  it('accept the operator; a session from one gateway is valid at the other', async () => {
    const { status, body } = await ask('POST', '/session', { token: stage.tokens.operator, operator: 'alice' }, 1);
    assert.equal(status, 200);
    csrfToken = body.csrfToken;
    assert.equal((await ask('GET', '/session', undefined, 0)).body.csrfToken, csrfToken);
  });

  it("capture and release by requestId, audited in the operator's name", async () => {
    const hold = await acme.hold({ merchantReference: 'order-1' });
    const found = await ask('GET', '/holds?merchantReference=order-1');
    assert.equal(found.body.items[0].requestId, hold.requestId);
    const captured = await ask('POST', `/holds/${hold.requestId}/capture`, { amountToCapture: 4_000 });
    assert.equal(captured.status, 200);
    assert.equal(captured.body.amountRemaining, 6_000);
    const refunded = await ask('POST', `/captures/${captured.body.requestId}/refund`, { amount: 1_000 });
    assert.deepEqual([refunded.status, refunded.body.amountRefunded], [201, 1_000]);
    assert.equal((await ask('POST', `/captures/${captured.body.requestId}/refund`, {}, 1)).body.amountRefunded, 3_000);
    const released = await ask('POST', `/holds/${hold.requestId}/release`, {}, 1);
    assert.equal(released.body.status, 'CAPTURED');
    const story = (await ask('GET', `/holds/${hold.requestId}`)).body;
    assert.deepEqual(
      story.operations.map((operation: { statusInfo: string }) => operation.statusInfo),
      ['authorized', 'captured', 'refunded', 'refunded', 'released'],
    );
    assert.equal(story.amountRefunded, 4_000);
    assert(!JSON.stringify([found, captured, released, story]).includes('pre_'));
    const { items } = (await ask('GET', `/audit?target=${hold.requestId}`)).body;
    const { items: refunds } = (await ask('GET', `/audit?target=${captured.body.requestId}`)).body;
    assert.deepEqual(
      refunds.map(({ action }: Record<string, unknown>) => action),
      ['refund.create', 'refund.create'],
    );
    assert.deepEqual(
      items.map(({ actor, action, detail }: Record<string, unknown> & { detail: { result: string } }) => [
        actor,
        action,
        detail.result,
      ]),
      [
        ['operator/alice', 'preauthorization.release', 'OK'],
        ['operator/alice', 'preauthorization.capture', 'OK'],
      ],
    );
  });

  it('resolve what needs review', async () => {
    const hold = await acme.hold({ tokenId: 'tok_sandbox_capture_timeout_lost' });
    const { status, body } = await ask('POST', `/holds/${hold.requestId}/capture`, { amountToCapture: 1_000 });
    assert.equal(status, 202);
    await sql(stage, "update submission set state = 'NEEDS_REVIEW' where request_id = $1", [body.requestId]);
    assert.equal((await ask('GET', '/overview')).body.needsReviewCount, 1);
    const [item] = (await ask('GET', '/reviews?reason=NEEDS_REVIEW')).body.items;
    assert.equal(item.requestId, body.requestId);
    const resolution = { outcome: 'KO', reason: 'they never got it', processorCode: 'not_found' };
    const resolved = await ask('POST', `/reviews/${item.requestId}/resolve`, resolution);
    assert.equal(resolved.body.operation.processorCode, 'never_received', 'the processor was asked before');
    assert.equal((await ask('POST', `/reviews/${item.requestId}/resolve`, resolution)).status, 400);
  });

  it('create a merchant, change it, rotate its credentials', async () => {
    const contract = { allowMultipleCaptures: false, currencies: ['EUR'], terminals: ['T1'], holdPeriodSeconds: 60 };
    const created = await ask('POST', '/merchants', { merchantId: 'bolt', name: 'Bolt', contract });
    assert.equal(created.status, 201);
    assert.match(created.body.apiKey, /^hf_/);
    assert.match(created.body.signingSecret, /^whsec_/);
    const changed = await ask('PUT', '/merchants/bolt', { name: 'Bolt 2', contract: created.body.merchant.contract });
    assert.equal(changed.body.name, 'Bolt 2');
    assert.deepEqual(changed.body.contract, { ...created.body.merchant.contract });
    const key = await ask('POST', '/merchants/bolt/api-keys');
    assert.equal((await ask('DELETE', `/merchants/bolt/api-keys/${key.body.apiKeyId}`)).status, 204);
    const secret = await ask('POST', '/merchants/bolt/signing-secrets');
    assert.match(secret.body.signingSecret, /^whsec_/);
    const { signingSecrets } = (await ask('GET', '/merchants/bolt')).body;
    const path = `/merchants/bolt/signing-secrets/${signingSecrets[0].signingSecretId}`;
    assert.equal((await ask('DELETE', path)).status, 204);
    const shown = (await ask('GET', '/merchants/bolt')).body;
    assert(shown.apiKeys[1].revokedAt && shown.signingSecrets[0].retiredAt);
    assert.doesNotMatch(JSON.stringify(shown), /hf_|whsec_/);
    assert.equal((await ask('GET', '/merchants/nobody')).status, 404);
    const refused = await ask('POST', '/merchants', { merchantId: 'bolt', name: 'B', contract });
    assert.deepEqual(refused.body.errors, [{ field: 'merchantId', message: 'is taken' }]);
  });

  it('pause an endpoint, list it, resume it', async () => {
    assert.equal((await ask('POST', '/endpoints/acme/webhook/pause')).body.pause, 'OPERATOR');
    assert.equal((await ask('GET', '/endpoints')).body.items[0].merchantId, 'acme');
    assert.equal((await ask('POST', '/endpoints/acme/webhook/resume')).body.pause, undefined);
  });

  it('create API keys and signing secrets that every gateway accepts at once, without counting failures', async () => {
    const { port } = gateways[0] ?? {};
    for (let round = 0; round < 5; round += 1) {
      const merchantId = `new-${round}`;
      const contract = { allowMultipleCaptures: false, currencies: ['EUR'], terminals: ['T1'] };
      const { body: created } = await ask('POST', '/merchants', { merchantId, name: 'New', contract });
      const { body: added } = await ask('POST', `/merchants/${merchantId}/signing-secrets`);
      const { body: made } = await ask('POST', `/merchants/${merchantId}/api-keys`);
      const uses = gateways.flatMap((gateway) => [
        ...[created.apiKey, made.apiKey].map((key: string) => read(gateway, key)),
        ...[created.signingSecret, added.signingSecret].map((secret: string) => notify(gateway, merchantId, secret)),
      ]);
      assert.deepEqual(await Promise.all(uses), Array(8).fill(200), `${merchantId} at ${port}`);
    }
    const { body: failures } = await ask('GET', '/relay/failures');
    assert.deepEqual(failures.items, []);
  });

  it('end a session and its streams at every gateway, including one that starts later', async () => {
    const [here, there] = gateways as [Gateway, Gateway];
    const asSession = { cookie, 'x-csrf-token': csrfToken };
    const look = async ({ port }: Gateway) =>
      (await fetch(`http://127.0.0.1:${port}/operator/overview`, { headers: asSession })).status;
    const streamed = await fetch(`http://127.0.0.1:${there.port}/operator/operations/stream`, { headers: asSession });
    assert.deepEqual([streamed.status, await look(here), await look(there)], [200, 200, 200]);
    const signedOut = await fetch(`http://127.0.0.1:${here.port}/operator/session`, {
      method: 'DELETE',
      headers: asSession,
    });
    assert.equal(signedOut.status, 204);
    assert.equal(await look(here), 401);
    await streamed.text();
    assert.equal(await look(there), 401);
    const later = await startGateway(readSettings(GATEWAY_SETTINGS, environment), { log: openLog('test', 'silent') });
    gateways.push(later);
    await later.ready;
    assert.equal(await look(later), 401);
  });
});

async function read(gateway: Gateway, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`http://127.0.0.1:${gateway.port}/operations`, { headers })).status;
}

async function notify(gateway: Gateway, merchantId: string, secret: string): Promise<number> {
  const fields = { merchantId, requestId: randomUUID(), status: 'OK', amount: '10.50', currency: 'EUR' };
  const answer = await fetch(`http://127.0.0.1:${gateway.port}/webhook/processor/payment/captured`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-signature': signNotification(secret, fields) },
    body: JSON.stringify(fields),
  });
  return answer.status;
}
