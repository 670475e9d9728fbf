import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { drawId } from '../../../platform/draw-id.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { NOTHING_LEFT } from '../answer.ts';
import { demandReleased } from '../books.ts';
import { type Check, can, check, checkUnless, needs } from '../check.ts';
import type { Kit } from '../kit.ts';
import { capture, decrease, extension, type Hold, increment, refund, voiding } from '../requests.ts';

const several = can('severalCaptures', 'the processor takes one capture of an authorization');
const refunds = can('refunds', 'the processor cannot refund');
const increments = can('increments', 'the processor cannot increment');
const partialReleases = can('partialRelease', 'the processor gives no part back');
const extensions = can('extension', 'the processor cannot extend');

/** What is charged, given back and refunded: never more than there is. */
export const AMOUNTS: readonly Check[] = [
  check('captures: the whole, and not a unit more', async (kit) => {
    const hold = await kit.placed();
    const more = capture(hold, hold.amount + 1n);
    await kit.refused(more, 'a capture of more than was reserved', TOO_MUCH);
    await kit.expectBooks(hold, {});
    await kit.approved(capture(hold, hold.amount));
    await kit.refused(capture(hold, 1n), 'a capture of what was captured already');
    await kit.expectBooks(hold, { captured: hold.amount });
  }),
  checkUnless(several, 'captures: several, up to the whole', async (kit) => {
    const hold = await kit.placed();
    for (let part = 1n; part <= 3n; part += 1n) {
      const result = await kit.approved(capture(hold, kit.tenth));
      demandReleased(result, 0n, 'a capture that is not final gives nothing back');
      await kit.expectBooks(hold, { captured: part * kit.tenth });
    }
    await kit.refused(capture(hold, kit.tenth * 7n + 1n), 'a capture of more than is left');
    await kit.approved(capture(hold, kit.tenth * 7n));
    await kit.expectBooks(hold, { captured: hold.amount });
  }),
  checkUnless(several, 'captures: 20 at once, never more than was reserved', async (kit) => {
    const hold = await kit.placed();
    const requests = Array.from({ length: 20 }, () => capture(hold, kit.tenth));
    const ended = await Promise.allSettled(requests.map((request) => kit.send(request)));
    const done = ended.filter((one) => one.status === 'fulfilled' && one.value.answer === Answer.APPROVED).length;
    assert(done <= 10, `${done} captures of a tenth were approved`);
    const again = await Promise.all(requests.map((request) => kit.settled(request)));
    const charged = again.filter(({ answer }) => answer === Answer.APPROVED).length;
    await kit.expectBooks(hold, { captured: BigInt(charged) * kit.tenth });
  }),
  check('captures: a final one gives the rest back', async (kit) => {
    const hold = await kit.placed();
    const result = await kit.approved(capture(hold, kit.tenth, true));
    demandReleased(result, kit.tenth * 9n);
    await kit.refused(capture(hold, 1n), 'a capture after the final one');
    await kit.expectBooks(hold, { captured: kit.tenth, voided: kit.tenth * 9n });
  }),
  checkUnless(needs('singleCapture'), 'captures: one only, where the authorization says so', async (kit) => {
    const hold = kit.authorization(kit.profile.tokens.singleCapture);
    const { capabilities } = await kit.approved(hold);
    assert.equal(capabilities?.severalCaptures, false, 'the capability several_captures of this authorization');
    const result = await kit.approved(capture(hold, kit.tenth));
    demandReleased(result, kit.tenth * 9n, 'a single capture gives the rest back');
    await kit.refused(capture(hold, 1n), 'a second capture');
    await kit.expectBooks(hold, { captured: kit.tenth, voided: kit.tenth * 9n });
  }),
  check("captures: of one's own hold only", async (kit) => {
    const hold = await kit.placed();
    const request = capture(hold, kit.tenth);
    const others = { ...request, merchantId: kit.profile.otherMerchantId };
    await kit.refused(others, "another merchant's capture");
    const foreign = { ...capture(hold, kit.tenth), currency: kit.profile.otherCurrency };
    await kit.refused(foreign, 'a capture in another currency');
    const unplaced = capture(kit.authorization(), kit.tenth);
    await kit.refused(unplaced, 'a capture of a hold that was never placed');
    await kit.expectBooks(hold, {});
  }),
  check('voids: the whole; nothing can be captured afterwards', async (kit) => {
    const hold = await kit.placed();
    demandReleased(await kit.approved(voiding(hold)), hold.amount);
    await kit.refused(capture(hold, 1n), 'a capture of what was voided');
    await demandNothingLeft(kit, hold);
    await kit.expectBooks(hold, { voided: hold.amount });
  }),
  checkUnless(several, 'voids: what is left of a hold captured in part', async (kit) => {
    const { hold } = await kit.captured();
    demandReleased(await kit.approved(voiding(hold)), kit.tenth * 9n);
    await kit.refused(capture(hold, 1n), 'a capture of what was voided');
    await demandNothingLeft(kit, hold);
    await kit.expectBooks(hold, { captured: kit.tenth, voided: kit.tenth * 9n });
  }),
  check('voids: of a hold that was never placed, refused', async (kit) => {
    const release = voiding(kit.authorization());
    await kit.refused(release, 'a void of a hold that was never placed', ['authorization_not_found']);
  }),
  checkUnless(needs('authorization', 'declined'), 'voids: of a hold that was declined, refused', async (kit) => {
    const hold = kit.authorization(kit.profile.tokens.authorization.declined);
    await kit.settled(hold);
    await kit.refused(voiding(hold), 'a void of a hold that was declined', NOTHING_LEFT);
    await kit.refused(capture(hold, 1n), 'a capture of a hold that was declined');
  }),
  checkUnless(needs('expiresSoon'), 'captures: not after the end of the hold', async (kit) => {
    const hold = kit.authorization(kit.profile.tokens.expiresSoon);
    const { expiresAt } = await kit.approved(hold);
    assert(expiresAt, 'the hold of tokens.expiresSoon has an end');
    const waitMs = timestampMs(expiresAt) - Date.now() + 500;
    assert(waitMs < kit.profile.eventWithinMs, `the hold of tokens.expiresSoon ends in ${waitMs} ms, too late to wait`);
    await sleep(Math.max(0, waitMs));
    const codes = ['authorization_expired'];
    await kit.refused(capture(hold, 1n), 'a capture after the end of the hold', codes);
  }),
  checkUnless(
    (kit) => refunds(kit) ?? several(kit),
    'refunds: of one capture, not of another',
    async (kit) => {
      const { hold, capture: of } = await kit.captured();
      await kit.approved(capture(hold, kit.tenth));
      const more = refund(of, kit.tenth + 1n);
      await kit.refused(more, 'a refund of more than its capture', ['amount_exceeds_capture']);
      const strange = { ...refund(of, 1n), captureRequestId: drawId() };
      await kit.refused(strange, 'a refund of a capture that was never made', ['capture_not_found']);
      await kit.expectBooks(hold, { captured: kit.tenth * 2n });
    },
  ),
  checkUnless(
    (kit) => refunds(kit) ?? needs('reversed')(kit),
    'refunds: not of what was taken back',
    async (kit) => {
      const { capture: of } = await kit.captured(kit.profile.tokens.reversed);
      await kit.reported('captureReversed', of.requestId);
      const codes = ['amount_exceeds_capture'];
      await kit.refused(refund(of, 1n), 'a refund of what was taken back', codes);
    },
  ),
  checkUnless(refunds, 'refunds: up to the capture, and not a unit more', async (kit) => {
    const { hold, capture: of } = await kit.captured();
    const more = refund(of, kit.tenth + 1n);
    await kit.refused(more, 'a refund of more than was captured', ['amount_exceeds_capture']);
    await kit.approved(refund(of, 1n));
    await kit.refused(refund(of, kit.tenth), 'a refund of more than is left of the capture');
    await kit.approved(refund(of, kit.tenth - 1n));
    await kit.refused(refund(of, 1n), 'a refund of what was refunded');
    await kit.expectBooks(hold, { ...kit.afterCapture, refunded: kit.tenth });
  }),
  checkUnless(refunds, 'refunds: 10 at once, never more than the capture', async (kit) => {
    const { hold, capture: of } = await kit.captured();
    const part = kit.tenth / 2n;
    const requests = Array.from({ length: 10 }, () => refund(of, part));
    await Promise.allSettled(requests.map((request) => kit.send(request)));
    const again = await Promise.all(requests.map((request) => kit.settled(request)));
    const done = again.filter(({ answer }) => answer === Answer.APPROVED).length;
    assert(done <= 2, `${done} refunds of half the capture were approved`);
    await kit.expectBooks(hold, { ...kit.afterCapture, refunded: BigInt(done) * part });
  }),
  checkUnless(increments, 'increments: add to what can be captured', async (kit) => {
    const hold = await kit.placed();
    await kit.approved(increment(hold, kit.tenth));
    await kit.approved(increment(hold, kit.tenth * 2n));
    const added = kit.tenth * 3n;
    const whole = hold.amount + added;
    await kit.refused(capture(hold, whole + 1n), 'a capture of more than was reserved');
    await kit.approved(capture(hold, whole));
    await kit.refused(increment(hold, 1n), 'an increment of a hold that is captured');
    await kit.expectBooks(hold, { captured: whole, incremented: added });
  }),
  checkUnless(increments, 'increments: what they added is voided, too', async (kit) => {
    const hold = await kit.placed();
    await kit.approved(increment(hold, kit.tenth));
    demandReleased(await kit.approved(voiding(hold)), hold.amount + kit.tenth);
    await kit.expectBooks(hold, { voided: hold.amount + kit.tenth, incremented: kit.tenth });
  }),
  checkUnless(partialReleases, 'partial releases: what they gave back is not captured, the rest is', async (kit) => {
    const hold = await kit.placed();
    await kit.approved(decrease(hold, kit.tenth));
    await kit.approved(decrease(hold, kit.tenth * 2n));
    const given = kit.tenth * 3n;
    const rest = hold.amount - given;
    await kit.expectBooks(hold, { voided: given });
    await kit.refused(capture(hold, rest + 1n), 'a capture of what was given back');
    await kit.approved(capture(hold, rest));
    await kit.refused(decrease(hold, 1n), 'a partial release of a hold that is captured');
    await kit.expectBooks(hold, { captured: rest, voided: given });
  }),
  checkUnless(
    partialReleases,
    'partial releases: of less than what is left; a void gives back the rest',
    async (kit) => {
      const hold = await kit.placed();
      await kit.approved(decrease(hold, kit.tenth));
      const rest = hold.amount - kit.tenth;
      await kit.refused(decrease(hold, rest), 'a partial release of all that is left');
      await kit.refused(decrease(hold, rest + 1n), 'a partial release of more than is left');
      demandReleased(await kit.approved(voiding(hold)), rest);
      await kit.expectBooks(hold, { voided: hold.amount });
    },
  ),
  check('authorization: the same answer after all that follows it', async (kit) => {
    const hold = kit.authorization();
    const first = await kit.approved(hold);
    if (kit.can('increments')) await kit.approved(increment(hold, kit.tenth));
    if (kit.can('partialRelease')) await kit.approved(decrease(hold, kit.tenth));
    if (kit.can('extension')) await kit.approved(extension(hold));
    const request = capture(hold, kit.tenth);
    const charged = await kit.approved(request);
    if (kit.can('refunds')) await kit.approved(refund(request, 1n));
    await kit.settled(voiding(hold));
    assert.deepEqual(await kit.send(hold), first, 'the answer to the repeated authorization');
    assert.deepEqual((await kit.inquire(hold)).result, first, 'the result of an inquiry about the authorization');
    assert.deepEqual(await kit.send(request), charged, 'the answer to the repeated capture');
  }),
  checkUnless(extensions, 'extensions: never an earlier end; not of a hold that is closed', async (kit) => {
    const hold = kit.authorization();
    const { expiresAt, guaranteedUntil } = await kit.approved(hold);
    const extended = await kit.approved(extension(hold));
    if (expiresAt && extended.expiresAt)
      assert(timestampMs(extended.expiresAt) >= timestampMs(expiresAt), 'expires_at');
    if (guaranteedUntil && extended.guaranteedUntil)
      assert(timestampMs(extended.guaranteedUntil) >= timestampMs(guaranteedUntil), 'guaranteed_until');
    await kit.approved(voiding(hold));
    await kit.refused(extension(hold), 'an extension of a hold that was voided');
    await kit.expectBooks(hold, { voided: hold.amount });
  }),
];

/** A second void gives nothing back: approved with 0, or refused. */
async function demandNothingLeft(kit: Kit, hold: Hold): Promise<void> {
  const result = await kit.settled(voiding(hold));
  const { answer, errorCode } = result;
  if (answer === Answer.APPROVED) demandReleased(result, 0n, 'amount_released of a second void');
  else {
    assert.equal(answer, Answer.NOT_PERFORMED, 'the answer to a second void');
    assert(NOTHING_LEFT.includes(errorCode), `a void that finds nothing left was answered ${errorCode}`);
  }
}

const TOO_MUCH = ['amount_exceeds_authorization'];
