/** Stripe's own objects as events, where its file of them is there. */
import assert from 'node:assert/strict';
import { EVENT_TYPES } from '../../../../services/stripe/webhook/receive.ts';
import { forSuite } from '../../../suite.ts';
import { foreignFile } from '../../foreign.ts';
import type { Event } from '../fake/account.ts';
import { captureRequest, startFixture } from '../fixture.ts';

const file = foreignFile<{ resources: Readonly<Record<string, object>> }>('stripe/fixtures3.json');
const objects = Object.entries(file?.resources ?? {});
/** What the events that are listened to carry. */
const CARRIED = ['charge', 'checkout.session', 'dispute', 'payment_intent', 'refund'];

(file ? describe : describe.skip)('each of Stripe’s own objects', () => {
  const fixture = forSuite(startFixture);

  it('comes as an event, is answered 2xx, and changes nothing', async () => {
    const hold = await fixture.placed();
    await fixture.client.capture(captureRequest(hold, 4_000n));
    await fixture.deliverAll();
    const before = await fixture.entries();
    fixture.stripe.requests.length = 0;
    fixture.core.received.length = 0;
    const usual = { object: 'event', api_version: null, created: fixture.stripe.now(), livemode: false } as const;
    let count = 0;
    for (const [name, object] of objects) {
      const types = CARRIED.includes(name) ? EVENT_TYPES : ([`${name}.updated`] as const);
      for (const type of types) {
        count += 1;
        const event = { ...usual, id: `evt_${count}`, type, data: { object } };
        assert.equal(await fixture.deliver(event as Event), 200, type);
      }
    }
    await fixture.adapter.dealWithNotices();
    await fixture.adapter.reportDue();
    assert(count > 200);
    assert.deepEqual(await fixture.entries(), before);
    assert.deepEqual(fixture.core.received, []);
    assert.deepEqual(
      fixture.stripe.requests.filter(({ path }) => !path.startsWith('GET ')),
      [],
    );
    assert(!fixture.logged.some((line) => line.includes('"event":"notice failed"')));
  });
});
