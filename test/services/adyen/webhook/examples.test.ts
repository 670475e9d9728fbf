/** Adyen's own examples of notifications, where its document is there. */
import assert from 'node:assert/strict';
import { signatureOf } from '../../../../services/adyen/webhook/hmac.ts';
import { forSuite } from '../../../suite.ts';
import { foreignFile } from '../../foreign.ts';
import { post } from '../fake/by-itself.ts';
import { HMAC_KEY } from '../fake/fake-adyen.ts';
import type { Item } from '../fake/payment.ts';
import { type Hold, refundRequest, startFixture } from '../fixture.ts';

interface Example {
  readonly value: { readonly notificationItems?: readonly { readonly NotificationRequestItem: Item }[] };
}

const document = foreignFile<{ components: { examples: Record<string, Example> } }>('adyen/webhooks-v1.json');
const examples = Object.entries(document?.components.examples ?? {}).map(([name, { value }]) => ({
  name,
  items: value.notificationItems?.map(({ NotificationRequestItem }) => NotificationRequestItem),
  value,
}));

/** Signs an example, as the key of the tests does. */
function signed(item: Item, change: Partial<Item> = {}): Item {
  const changed = { ...item, ...change };
  return { ...changed, additionalData: { ...changed.additionalData, hmacSignature: signatureOf(changed, HMAC_KEY) } };
}

/** What an example about a payment of ours does: captured, given back, refunded and reversed afterwards. */
const EFFECTS: Readonly<Record<string, readonly bigint[]>> = {
  AUTHORISATION: [0n, 0n, 0n, 0n],
  CAPTURE: [1_000n, 9_000n, 0n, 0n],
  CANCELLATION: [0n, 10_000n, 0n, 0n],
  TECHNICAL_CANCEL: [0n, 10_000n, 0n, 0n],
  EXPIRE: [0n, 10_000n, 0n, 0n],
  CANCEL_OR_REFUND: [10_000n, 0n, 4_000n, 1_000n],
  CAPTURE_FAILED: [10_000n, 0n, 4_000n, 10_000n],
  CHARGEBACK: [10_000n, 0n, 4_000n, 1_000n],
  SECOND_CHARGEBACK: [10_000n, 0n, 4_000n, 1_000n],
  // What the chargeback before it took is given again.
  CHARGEBACK_REVERSED: [10_000n, 0n, 4_000n, 0n],
  REFUND_FAILED: [10_000n, 0n, 3_000n, 0n],
  REFUNDED_REVERSED: [10_000n, 0n, 3_000n, 0n],
};
const UNCHANGED = [10_000n, 0n, 4_000n, 0n];
/** These come before anything was captured. */
const OF_OPEN: ReadonlySet<string> = new Set([
  'AUTHORISATION',
  'CAPTURE',
  'CANCELLATION',
  'TECHNICAL_CANCEL',
  'EXPIRE',
]);
/** Adyen's reference in these is that of the payment, or of the modification that failed. */
const OF_KIND: Readonly<Record<string, 'payment' | 'capture' | 'refund'>> = {
  AUTHORISATION: 'payment',
  EXPIRE: 'payment',
  CAPTURE_FAILED: 'capture',
  REFUND_FAILED: 'refund',
  REFUNDED_REVERSED: 'refund',
};

(examples.length > 0 ? describe : describe.skip)("Adyen's own examples of notifications", () => {
  const fixture = forSuite(startFixture);
  beforeEach(() => {
    fixture.logged.length = 0;
    fixture.core.received.length = 0;
  });
  const lines = (event: string) => fixture.logged.filter((line) => line.includes(`"event":"${event}"`));

  async function sumsOf(hold: Hold): Promise<bigint[]> {
    const { captured, voided, refunded, reversed } = await fixture.books(hold);
    return [captured, voided, refunded, reversed];
  }

  /** A payment of ours as it is before an example, and what the example says when it is about it. */
  async function about(item: Item): Promise<{ hold: Hold; change: Partial<Item> }> {
    const hold = await fixture.placed();
    const payment = fixture.paymentOf(hold).pspReference;
    const references = { payment, capture: '', refund: '' };
    const lastReference = () => fixture.adyen.items.at(-1)?.pspReference ?? '';
    if (!OF_OPEN.has(item.eventCode)) {
      const capture = await fixture.captured(hold);
      references.capture = lastReference();
      await fixture.client.refund(refundRequest(hold, capture, 4_000n));
      await fixture.notify();
      references.refund = lastReference();
    }
    const kind = OF_KIND[item.eventCode];
    const pspReference = kind ? references[kind] : `P${hold.requestId}`;
    const originalReference = item.originalReference === undefined ? {} : { originalReference: payment };
    const change = { merchantReference: hold.requestId, pspReference, ...originalReference };
    if (item.eventCode === 'CHARGEBACK_REVERSED') {
      await fixture.notify(signed({ ...item, eventCode: 'CHARGEBACK' }, change));
    }
    fixture.logged.length = 0;
    return { hold, change };
  }

  for (const { name, items, value } of examples) {
    if (!items) {
      it(`${name} is no notification of a payment: it is refused with a line`, async () => {
        const url = `http://127.0.0.1:${fixture.adapter.webhookPort}/webhook/adyen`;
        assert.equal(await post(url, value), '');
        assert.equal(lines('webhook refused').length, 1);
      });
      continue;
    }
    for (const item of items) {
      it(`${name} about a payment of somebody else is accepted, changes nothing, and leaves a line`, async () => {
        await fixture.notify(signed(item, { pspReference: `${item.pspReference}-${item.eventCode}` }));
        assert.equal(lines('notification ignored').length, 1);
        assert.deepEqual(fixture.core.received, []);
      });

      it(`${name} about a payment of ours does what it says, or leaves a line`, async () => {
        const { hold, change } = await about(item);
        await fixture.notify(signed(item, change));
        const expected = EFFECTS[item.eventCode] ?? UNCHANGED;
        assert.deepEqual(await sumsOf(hold), expected);
        const isIgnored = lines('notification ignored').length > 0;
        assert.equal(isIgnored, EFFECTS[item.eventCode] === undefined);
      });
    }
  }
});
