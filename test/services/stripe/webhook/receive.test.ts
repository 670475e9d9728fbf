import assert from 'node:assert/strict';
import { type AddressInfo, Server } from 'node:net';
import Stripe from 'stripe';
import { forSuite } from '../../../suite.ts';
import type { Event } from '../fake/account.ts';
import { cancelIntent } from '../fake/payment-intents.ts';
import { CONNECT_SECRET, holdRequest, intentOf, postEvent, startFixture, WEBHOOK_SECRET } from '../fixture.ts';

describe('Stripe’s webhooks', () => {
  let event: Event;
  const fixture = forSuite(startFixture);

  before(async () => {
    const hold = holdRequest();
    await fixture.client.authorize(hold);
    const { id } = intentOf(fixture, hold.requestId);
    const found = fixture.stripe.account().events.findLast(({ data }) => (data.object as { id: string }).id === id);
    assert(found);
    event = found;
  });

  const sign = (payload: string, secret = WEBHOOK_SECRET, timestamp = Math.floor(Date.now() / 1000)) =>
    Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });

  it('are accepted when they are signed with one of the secrets, and again when they arrive twice', async () => {
    const payload = JSON.stringify(event);
    assert.equal(await postEvent(fixture, payload, sign(payload)), 200);
    assert.equal(await postEvent(fixture, payload, sign(payload)), 200);
    assert.equal(await postEvent(fixture, payload, sign(payload, CONNECT_SECRET)), 200);
  });

  it('are rejected when the signature is wrong', async () => {
    const payload = JSON.stringify(event);
    const spaced = JSON.stringify(event, null, 2);
    const old = Math.floor(Date.now() / 1000) - 600;
    const cases: readonly (readonly [body: string, signature: string | undefined])[] = [
      [payload, undefined],
      [payload, ''],
      [payload, 't=1,v1=00'],
      [payload, sign(payload, 'whsec_somebody_elses')],
      [payload, sign(payload, WEBHOOK_SECRET, old)],
      [spaced, sign(payload)],
      [payload.replace('"livemode":false', '"livemode":true'), sign(payload)],
      ['not json', sign('not json')],
    ];
    for (const [body, signature] of cases) assert.equal(await postEvent(fixture, body, signature), 400, signature);
  });

  for (const api_version of ['2014-01-31', '2025-02-24.acacia', '2099-01-01.unheard', null]) {
    it(`are a reason to look whatever version of the API wrote them: ${api_version}`, async () => {
      const hold = holdRequest();
      await fixture.client.authorize(hold);
      const { id } = intentOf(fixture, hold.requestId);
      cancelIntent(fixture.stripe.account(), id, {});
      const found = fixture.stripe.account().events.findLast(({ type }) => type === 'payment_intent.canceled');
      assert.equal(await fixture.deliver({ ...(found as Event), api_version }), 200);
      await fixture.adapter.dealWithNotices();
      const [{ voided } = assert.fail()] = await fixture.entries(hold.requestId);
      assert.equal(voided, 10_000n);
    });
  }

  it('are accepted and ignored when they concern something else', async () => {
    for (const type of ['customer.created', 'payment_intent.canceled'] as const) {
      const about = {
        ...event,
        id: `evt_${type}`,
        type,
        data: { object: { object: 'payment_intent', id: 'pi_nobodys' } },
      };
      assert.equal(await fixture.deliver(about as Event), 200);
    }
    await fixture.adapter.dealWithNotices();
  });

  it('are accepted as soon as the port is open, while the adapter still starts', async () => {
    const payload = JSON.stringify({ ...event, id: 'evt_early' });
    const listen: (this: Server, port: number, host: string, opened: () => void) => Server = Server.prototype.listen;
    let status: number | undefined;
    // The webhook server is the first that listens. The start goes on when it has answered the event.
    Server.prototype.listen = function (this: Server, port: number, host: string, opened: () => void) {
      Server.prototype.listen = listen as typeof Server.prototype.listen;
      return listen.call(this, port, host, async () => {
        const { port: openPort } = this.address() as AddressInfo;
        const headers = { 'stripe-signature': sign(payload) };
        const url = `http://127.0.0.1:${openPort}/webhook/stripe`;
        status = (await fetch(url, { method: 'POST', headers, body: payload })).status;
        opened();
      });
    } as typeof Server.prototype.listen;
    await fixture.restart();
    assert.equal(status, 200);
  });

  it('accept only their own path and method', async () => {
    const origin = `http://127.0.0.1:${fixture.adapter.webhookPort}`;
    assert.equal((await fetch(`${origin}/webhook/stripe`)).status, 405);
    assert.equal((await fetch(`${origin}/`, { method: 'POST' })).status, 404);
    assert.equal((await fetch(`${origin}/healthz`)).status, 200);
  });

  it('close the connection when the body is too large, since its rest is not read', async () => {
    const body = 'x'.repeat(4 * 1024 * 1024);
    const answer = await fetch(`http://127.0.0.1:${fixture.adapter.webhookPort}/webhook/stripe`, {
      method: 'POST',
      body,
    });
    assert.deepEqual([answer.status, answer.headers.get('connection')], [413, 'close']);
  });
});
