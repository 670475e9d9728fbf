import assert from 'node:assert/strict';
import { forSuite } from '../../suite.ts';
import { API_KEY } from './fake/fake-stripe.ts';
import { completeSession } from './fake/sessions.ts';
import {
  captureRequest,
  checkoutRequest,
  holdRequest,
  PROCESSOR_CREDENTIAL,
  PROCESSOR_TOKEN,
  postEvent,
  startFixture,
  voidRequest,
  WEBHOOK_SECRET,
} from './fixture.ts';

describe('what the adapter logs', () => {
  const fixture = forSuite(startFixture);

  it('contains no key, secret, token, card, or address of a checkout', async () => {
    const hold = holdRequest();
    await fixture.client.authorize(hold);
    await fixture.client.authorize(holdRequest('pm_card_chargeDeclined'));
    await fixture.client.authorize(holdRequest('pm_nobodys_secret_token'));
    await fixture.client.capture(captureRequest(hold, 1_000n));
    fixture.stripe.fail('POST /v1/payment_intents/…/capture', 'cut before', 99);
    await fixture.client.void(voidRequest(hold)).catch(() => undefined);
    fixture.stripe.faults.length = 0;
    const checkout = checkoutRequest({ saveCard: true });
    const { checkoutUrl } = await fixture.client.createCheckout(checkout);
    const { id } = [...fixture.stripe.account().sessions.values()][0] ?? { id: '' };
    completeSession(fixture.stripe.account(), id, 'pm_card_visa');
    await fixture.deliverAll();
    const signature = 't=1,v1=0123456789abcdef';
    await postEvent(fixture, '{"card":"4242424242424242"}', signature);
    const saved = [...fixture.stripe.account().paymentMethods.keys()][0] ?? '';
    const text = fixture.logged.join('');
    assert(text.includes(hold.requestId) && text.includes('webhook refused'));
    const secrets = [API_KEY, WEBHOOK_SECRET, PROCESSOR_CREDENTIAL, PROCESSOR_TOKEN, checkoutUrl, id, saved, signature];
    for (const secret of [...secrets, 'pm_', 'cs_test_']) assert(!text.includes(secret), secret);
    // Within an identifier the four digits are nobody's card.
    assert.doesNotMatch(text, /(?<![\da-f-])4242(?![\da-f-])/);
  });
});
