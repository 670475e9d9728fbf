import assert from 'node:assert/strict';
import { type Check, can, checkUnless, needs } from '../check.ts';
import type { Kit } from '../kit.ts';
import { capture, refund } from '../requests.ts';

const several = can('severalCaptures', 'the processor takes one capture of an authorization');

const refunds = can('refunds', 'the processor cannot refund');

/** Several captures of one hold, of different amounts: what happens to one happens to no other. */
export const SEVERAL: readonly Check[] = [
  checkUnless(
    (kit) => several(kit) ?? needs('reversed')(kit),
    'two captures: what is taken back says of which, or of none',
    async (kit) => {
      const { hold, first, second } = await captured(kit, kit.profile.tokens.reversed);
      const captures = [first, second];
      await kit.reportedAbout('captureReversed', [hold, ...captures]);
      for (const { requestId, amount } of captures) {
        for (const { said } of kit.inbox.about('captureReversed', requestId)) {
          assert.equal((said.value as { amount: bigint }).amount, amount, 'what was taken back of one of two captures');
        }
      }
      await kit.demandBooks({ authorizationRequestId: hold.requestId });
    },
  ),
  checkUnless(
    (kit) => several(kit) ?? needs('reversed')(kit) ?? refunds(kit),
    'two captures: no refund of the one that was taken back, whatever is left of the other',
    async (kit) => {
      const { first } = await takenBack(kit, kit.profile.tokens.reversed);
      await kit.refused(refund(first, 1n), 'a refund of a capture that was taken back', ['amount_exceeds_capture']);
      assert.equal((await entryOf(kit, first))?.reversed, first.amount, 'reversed of the capture in the books');
    },
  ),
  checkUnless(
    (kit) => several(kit) ?? needs('reversedInPart')(kit) ?? refunds(kit),
    'two captures: of the one that was taken back in part, no more than the rest is refunded',
    async (kit) => {
      const { first, taken } = await takenBack(kit, kit.profile.tokens.reversedInPart);
      const rest = first.amount - taken;
      await kit.refused(refund(first, rest + 1n), 'a refund of more than is left', ['amount_exceeds_capture']);
      await kit.approved(refund(first, rest));
      await kit.demandBooks(first);
    },
  ),
  checkUnless(
    (kit) => several(kit) ?? refunds(kit),
    'two captures: the refund of one leaves the other',
    async (kit) => {
      const { hold, first, second } = await captured(kit);
      await kit.approved(refund(first, first.amount));
      await kit.refused(refund(first, 1n), 'a refund of what was refunded', ['amount_exceeds_capture']);
      await kit.approved(refund(second, second.amount));
      const whole = first.amount + second.amount;
      await kit.expectBooks(hold, { captured: whole, refunded: whole });
    },
  ),
];

async function captured(kit: Kit, tokenId?: string) {
  const hold = await kit.placed(tokenId);
  const [first, second] = [capture(hold, kit.tenth), capture(hold, kit.tenth * 3n)];
  await kit.approved(first);
  await kit.approved(second);
  return { hold, first, second };
}

/** A capture that was taken back, beside one that was made after that. */
async function takenBack(kit: Kit, tokenId?: string) {
  const hold = await kit.placed(tokenId);
  const first = capture(hold, kit.tenth);
  await kit.approved(first);
  const { said } = await kit.reported('captureReversed', first.requestId);
  await kit.approved(capture(hold, kit.tenth * 3n));
  return { first, taken: said.value.amount };
}

async function entryOf(kit: Kit, { requestId, authorizationRequestId }: ReturnType<typeof capture>) {
  return (await kit.list({ authorizationRequestId })).find((entry) => entry.requestId === requestId);
}
