import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { signNotification } from '../../../client/webhooks/signature.ts';
import { NotificationKind } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { forEachTest } from '../../suite.ts';
import { notification, openStage, SECRETS } from './stage.ts';

describe('verify()', () => {
  const stage = forEachTest(openStage);

  it('returns 401 alike for missing, malformed and wrong signatures and for unknown merchants', async () => {
    const { body, signature } = notification();
    const nobody = notification({ merchantId: 'nobody' });
    const retired = notification({ merchantId: 'closed' });
    const wrong = notification({ amount: '1001' }).signature;
    const answers = [];
    for (const [index, sent] of [
      { body, signature: null },
      { body, signature: '' },
      { body, signature: wrong },
      { body, signature: [signature, signature] },
      { body, signature: [wrong, signature] },
      { body, signature: signature.slice(0, 43) },
      { body, signature: `${signature}=` },
      nobody,
      retired,
      { ...nobody, signature: null },
      {
        body: nobody.body,
        signature: signNotification('', {
          merchantId: 'nobody',
          requestId: 'REQ-1',
          status: 'OK',
          amount: '1000',
          currency: 'EUR',
        }),
      },
    ].entries()) {
      const { status, headers, body: text } = await stage.send({ ...sent, from: `192.0.2.${index}` });
      const { date: _, 'x-request-id': __, ...told } = headers;
      answers.push({ status, told, text });
    }
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
    assert.equal(answers[0]?.status, 401);
    assert.equal(JSON.parse(answers[0]?.text ?? '').code, 'UNAUTHENTICATED');
    assert.equal(await stage.metric('holdfast_relay_verification_failures_total', { reason: 'UNKNOWN_MERCHANT' }), 3);
    assert.equal(await stage.metric('holdfast_relay_verification_failures_total', { reason: 'WRONG_SIGNATURE' }), 1);
    assert.equal(await stage.metric('holdfast_relay_verification_failures_total', { reason: 'MISSING_SIGNATURE' }), 2);
    assert.equal(
      await stage.metric('holdfast_relay_verification_failures_total', { reason: 'MALFORMED_SIGNATURE' }),
      5,
    );
    assert.equal(stage.core.accepted.length, 0);
  });

  it('does not let one merchant sign for another, though the signed texts are equal', async () => {
    const a = { merchantId: 'M00', requestId: '1REQ-1', status: 'OK', amount: '1000', currency: 'EUR' };
    const b = { ...a, merchantId: 'M001', requestId: 'REQ-1' };
    assert.equal((await stage.send(notification(a))).status, 200);
    assert.equal((await stage.send({ body: notification(b).body, signature: notification(a).signature })).status, 401);
    assert.equal((await stage.send(notification(b))).status, 200);
  });

  it('logs, counts and reports a failed verification without body, signature or secret', async () => {
    const { body, signature } = notification({ extra: { tokenData: { tokenId: 'tok_private' } } });
    const forged = notification({ amount: '1' }).signature;
    await stage.send({ body, signature: forged, from: '2001:db8::7', path: '/webhook/processor/oct/paid' });
    const line = stage.lines.find(({ event }) => event === 'relay verification failed');
    const prefix = createHash('sha256').update(forged).digest('hex').slice(0, 8);
    const told = {
      reason: 'WRONG_SIGNATURE',
      kind: 'oct',
      statusInfo: 'paid',
      claimedMerchantId: 'acme',
      address: '2001:db8::7',
      bodyBytes: body.length,
      bodySha256: createHash('sha256').update(body).digest('hex'),
      signatureSha256Prefix: prefix,
    };
    assert.deepEqual(line?.fields, told);
    const everything = JSON.stringify(stage.lines) + (await stage.registry.metrics());
    for (const secret of [signature, forged, 'tok_private', ...(SECRETS.acme ?? [])]) {
      assert.ok(!everything.includes(secret));
    }

    await stage.relay.close();
    const [report] = stage.core.reports;
    assert.equal(report?.failures.length, 1);
    assert.equal(report?.failures[0]?.signatureSha256Prefix, prefix);
    assert.equal(report?.failures[0]?.kind, NotificationKind.OCT);
  });
});
