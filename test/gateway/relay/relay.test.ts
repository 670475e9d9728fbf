import assert from 'node:assert/strict';
import { signNotification } from '../../../client/webhooks/signature.ts';
import { Problem } from '../../../gateway/http/problem.ts';
import { NotificationKind, QuarantineReason } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { signingSecret } from '../../signing-secret.ts';
import { forEachTest } from '../../suite.ts';
import { CORE_FAILURES, notification, openStage, SECRETS, type Sent } from './stage.ts';

describe('createRelay()', () => {
  const stage = forEachTest(openStage);

  it('passes a verified notification to core byte for byte, and returns 200 once it is stored', async () => {
    const sent = notification({ extra: { tokenData: { tokenId: 'tok_1' }, note: 'ünsigned  \u2028' } });
    const answer = await stage.send({ ...sent, path: '/webhook/processor/payment/captured' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-relay-duplicate'], undefined);
    const [accepted] = stage.core.accepted;
    assert.equal(Buffer.from(accepted?.body ?? []).toString(), sent.body);
    const { merchantId, requestId, kind, statusInfo, status, amount, currency, signature } = accepted ?? {};
    assert.deepEqual(
      { merchantId, requestId, kind, statusInfo, status, amount, currency, signature },
      {
        merchantId: 'acme',
        requestId: 'REQ-1',
        kind: NotificationKind.PAYMENT,
        statusInfo: 'captured',
        status: 'OK',
        amount: '1000',
        currency: 'EUR',
        signature: sent.signature,
      },
    );
  });

  it('accepts OCT notifications, KO, and other statusInfo words', async () => {
    const paths = {
      'oct/paid': 'OK',
      'oct/declined': 'KO',
      'payment/expired': 'KO',
      'payment/SETTLED_2': 'KO',
      'oct/x': 'OK',
      'payment/refunded': 'OK',
      'payment/incremented': 'OK',
      'payment/extended': 'OK',
      'payment/expiring': 'OK',
    };
    for (const [path, status] of Object.entries(paths)) {
      const sent = notification({ requestId: path.replace('/', '.'), status });
      assert.equal((await stage.send({ ...sent, path: `/webhook/processor/${path}` })).status, 200, path);
    }
    assert.equal(stage.core.accepted.length, Object.keys(paths).length);
  });

  it('accepts the amount as a number or a string, as written', async () => {
    for (const [index, amount] of ['0', '1000', '10.50', '"10.50"', '"007"', '999999999999.9999'].entries()) {
      const requestId = `R${index}`;
      const text = amount.replaceAll('"', '');
      const { body } = notification({ requestId, amount });
      const { signature } = notification({ requestId, amount: text });
      assert.equal((await stage.send({ body, signature })).status, 200, amount);
      assert.equal(stage.core.accepted.at(-1)?.amount, text);
    }
  });

  it('accepts a signature by either of two live secrets', async () => {
    for (const [index, secret] of (SECRETS.globex ?? []).entries()) {
      const fields = { merchantId: 'globex', requestId: `R${index}`, status: 'OK', amount: '1', currency: 'EUR' };
      const { body } = notification(fields);
      assert.equal((await stage.send({ body, signature: signNotification(secret, fields) })).status, 200);
    }
  });

  it('returns 200 for a duplicate and marks it, on any path of its kind', async () => {
    const sent = notification();
    await stage.send(sent);
    const again = await stage.send({ ...sent, body: `${sent.body}\n`, path: '/webhook/processor/payment/other' });
    assert.equal(again.status, 200);
    assert.equal(again.headers['x-relay-duplicate'], 'true');
    assert.equal(stage.core.accepted.length, 1);
  });

  /** Both are stored: a sender whose notification was refused would repeat it for days, then disable the endpoint. */
  const isHeld = async (sent: Sent, as: 'conflict' | 'contradiction') => {
    const { status, headers, body } = await stage.send(sent);
    assert.deepEqual([status, headers['x-relay-held'], body], [202, as, '{"requestId":"REQ-1"}'], sent.path);
    assert.equal(headers['x-relay-duplicate'], undefined);
  };

  it('returns 202 and conflict for the same pair with another kind, status, amount or currency', async () => {
    await stage.send(notification({ amount: '10.5' }));
    for (const fields of [{ amount: '10.50' }, { status: 'KO' }, { amount: '10.5', currency: 'USD' }]) {
      const sent = { ...notification(fields), path: '/webhook/processor/payment/x' };
      await isHeld(sent, 'conflict');
    }
    const swapped = { ...notification({ amount: '10.5' }), path: '/webhook/processor/oct/x' };
    await isHeld(swapped, 'conflict');
    assert.equal(stage.core.conflicts.length, 4);
    assert.equal(stage.core.accepted.length, 1);
  });

  it('returns 202 and contradiction when the path contradicts the body, without taking the pair', async () => {
    const paths = [
      'payment/paid',
      'oct/captured',
      'oct/authorized',
      'payment/declined',
      'payment/expired',
      'payment/Reversed',
      'oct/FAILED',
      'oct/refunded',
      'oct/expiring',
    ];
    for (const path of paths) {
      await isHeld({ ...notification(), path: `/webhook/processor/${path}` }, 'contradiction');
    }
    const words = ['captured', 'refunded', 'incremented', 'extended', 'expiring'];
    for (const word of words) {
      const refused = { ...notification({ status: 'KO' }), path: `/webhook/processor/payment/${word}` };
      await isHeld(refused, 'contradiction');
    }
    assert.equal(stage.core.quarantined.length, paths.length + words.length);
    assert.equal(stage.core.quarantined[0]?.reason, QuarantineReason.STATUS_INFO_CONTRADICTED);
    assert.equal(stage.core.accepted.length, 0);
    assert.equal((await stage.send(notification())).status, 200);
  });

  it("returns 503 with Retry-After while it cannot verify or store, whatever core's error is", async () => {
    stage.fresh = false;
    for (const sent of [notification(), { ...notification(), signature: null }]) {
      const { status, headers } = await stage.send(sent);
      assert.equal(status, 503);
      assert.ok(Number(headers['retry-after']) >= 1);
    }
    stage.fresh = true;
    for (const code of CORE_FAILURES) {
      stage.core.failing = code;
      for (const path of ['/webhook/processor/payment/captured', '/webhook/processor/payment/expired']) {
        const { status, headers } = await stage.send({ ...notification(), path });
        assert.equal(status, 503, `${code}`);
        assert.ok(Number(headers['retry-after']) >= 1);
      }
    }
    stage.core.failing = undefined;
    assert.equal((await stage.send(notification())).status, 200);
    assert.equal(stage.core.accepted.length, 1);
  });

  it('requests a secret that it does not have yet, and counts no failure for it', async () => {
    const secret = signingSecret('brand-new');
    const fields = { merchantId: 'acme', requestId: 'NEW', status: 'OK', amount: '1000', currency: 'EUR' };
    const { body } = notification(fields);
    let refreshed = 0;
    stage.refresh = async () => {
      refreshed += 1;
      stage.secrets = { ...SECRETS, acme: [...(SECRETS.acme ?? []), secret] };
    };
    assert.equal((await stage.send(notification())).status, 200);
    assert.equal(refreshed, 0, 'what verifies needs no request');
    assert.equal((await stage.send({ body, signature: signNotification(secret, fields) })).status, 200);
    assert.equal(refreshed, 1);
    assert.equal(await stage.metric('holdfast_relay_verification_failures_total'), 0);
  });

  it('requests the newest secrets whether the merchant exists or not, and returns 503 when it cannot', async () => {
    let refreshed = 0;
    stage.refresh = async () => {
      refreshed += 1;
    };
    const wrong = [notification({ merchantId: 'nobody' }), { ...notification(), signature: `${'A'.repeat(43)}=` }];
    for (const sent of wrong) assert.equal(await stage.refusal(sent), '401 UNAUTHENTICATED');
    assert.equal(refreshed, 2);
    stage.refresh = () => Promise.reject(new Problem('UNAVAILABLE'));
    for (const sent of wrong) assert.equal(await stage.refusal(sent), '503 UNAVAILABLE');
    assert.equal(
      await stage.metric('holdfast_relay_verification_failures_total'),
      2,
      'unverifiable requests do not count',
    );
  });

  it('counts requests by kind and status', async () => {
    await stage.send(notification());
    await stage.send({ ...notification(), signature: null });
    assert.equal(await stage.metric('holdfast_relay_requests_total', { kind: 'payment', status: '200' }), 1);
    assert.equal(await stage.metric('holdfast_relay_requests_total', { kind: 'payment', status: '401' }), 1);
  });
});
