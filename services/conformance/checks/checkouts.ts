import assert from 'node:assert/strict';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { ServiceError } from '@grpc/grpc-js';
import { Finding } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Check, checkUnless } from '../check.ts';
import { approved, authorization, inquire, type Kit, told, voiding } from '../kit.ts';

const can = ({ description }: Kit) => (description.checkouts ? undefined : 'the processor has no checkouts');
const CHECKOUT_MS = 30 * 60_000;

/** Hosted pages, as far as they can be judged without a browser. */
export const CHECKOUTS: readonly Check[] = [
  checkUnless(can, 'checkouts: opened once, at work until closed by a void', async (kit) => {
    const request = checkout(kit);
    const first = await kit.client.createCheckout(request);
    assert(URL.canParse(first.checkoutUrl), 'checkout_url is an address');
    const { checkoutShortest } = kit.description;
    const asked = timestampMs(request.expiresAt);
    assert(
      first.expiresAt && (checkoutShortest || timestampMs(first.expiresAt) <= asked + 1_000),
      'it closes when it was asked to',
    );
    assert.deepEqual(await kit.client.createCheckout(request), first, 'the same page for a repeated request');
    const atWork = await inquire(kit, request);
    assert.deepEqual([Finding[atWork.finding], atWork.fenced], ['AT_WORK', false]);
    const { amountReleased } = await approved(kit, 'void', voiding(request));
    assert.equal(amountReleased ?? 0n, 0n, 'a page without a card gives nothing back');
    const { finding, result } = await inquire(kit, request);
    assert.equal(Finding[finding], 'DONE', 'a closed checkout has ended');
    assert.match(result ? told(result) : '', /^NOT_PERFORMED /);
  }),
  checkUnless(can, 'checkouts: another request under its identifier, or a fenced one, refused', async (kit) => {
    const request = checkout(kit);
    await kit.client.createCheckout(request);
    const requests = [
      { ...request, amount: request.amount - 1n },
      { ...request, currency: kit.profile.otherCurrency },
      { ...request, merchantId: kit.profile.otherMerchantId },
    ];
    if (kit.description.fences) {
      const fenced = checkout(kit);
      await inquire(kit, fenced);
      requests.push(fenced);
    }
    for (const other of requests) {
      const refused = await kit.client.createCheckout(other).then(
        () => undefined,
        (error: ServiceError) => error,
      );
      assert(refused, 'the page was opened');
    }
    const { finding } = await inquire(kit, request);
    assert.equal(Finding[finding], 'AT_WORK', 'the page that was opened first');
  }),
];

function checkout(kit: Kit) {
  const { tokenId: _, ...hold } = authorization(kit);
  const expiresAt = timestampFromMs(Date.now() + CHECKOUT_MS);
  return { ...hold, tokenId: '', merchantName: 'Conformance', expiresAt, returnUrl: '', saveCard: false };
}
