import assert from 'node:assert/strict';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Finding } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { told } from '../answer.ts';
import { type Check, can, checkUnless } from '../check.ts';
import type { Kit } from '../kit.ts';
import { voiding } from '../requests.ts';

const checkouts = can('checkouts', 'the processor has no checkouts');
const CHECKOUT_MS = 30 * 60_000;

/** Hosted pages, as far as they can be judged without a browser. */
export const CHECKOUTS: readonly Check[] = [
  checkUnless(checkouts, 'checkouts: opened once, at work until closed by a void', async (kit) => {
    const request = checkout(kit);
    const first = await kit.openPage(request);
    assert(URL.canParse(first.checkoutUrl), 'checkout_url is an address');
    const { checkoutShortest } = kit.description;
    const latestMs = checkoutShortest ? Number.POSITIVE_INFINITY : timestampMs(request.expiresAt) + 1_000;
    assert(!first.expiresAt || timestampMs(first.expiresAt) <= latestMs, 'it closes when it was asked to');
    assert.deepEqual(await kit.openPage(request), first, 'the same page for a repeated request');
    const other = await kit.openPage(checkout(kit));
    assert.notEqual(other.checkoutUrl, first.checkoutUrl, 'the address of another page of the same order');
    const atWork = await kit.inquire(request);
    assert.deepEqual([Finding[atWork.finding], atWork.fenced], ['AT_WORK', false]);
    const { amountReleased } = await kit.approved(voiding(request));
    assert.equal(amountReleased ?? 0n, 0n, 'a page without a card gives nothing back');
    const { finding, result } = await kit.inquire(request);
    assert.equal(Finding[finding], 'DONE', 'a closed checkout has ended');
    assert.match(result ? told(result) : '', /^NOT_PERFORMED /);
  }),
  checkUnless(checkouts, 'checkouts: another request under its identifier, or a fenced one, refused', async (kit) => {
    const request = checkout(kit);
    await kit.openPage(request);
    const requests = [
      { ...request, amount: request.amount - 1n },
      { ...request, currency: kit.profile.otherCurrency },
      { ...request, merchantId: kit.profile.otherMerchantId },
    ];
    if (kit.description.fences) {
      const fenced = checkout(kit);
      await kit.inquire(fenced);
      requests.push(fenced);
    }
    for (const other of requests) {
      await assert.rejects(kit.client.createCheckout(other), 'the page was opened');
    }
    const { finding } = await kit.inquire(request);
    assert.equal(Finding[finding], 'AT_WORK', 'the page that was opened first');
  }),
];

/** A page that stays open for half an hour. */
export function checkout(kit: Kit) {
  const expiresAt = timestampFromMs(Date.now() + CHECKOUT_MS);
  return { ...kit.authorization(''), merchantName: 'Conformance', expiresAt, returnUrl: '', saveCard: false };
}
