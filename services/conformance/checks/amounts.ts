import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import { Answer, type Capabilities } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { expectBooks } from '../books.ts';
import { type Check, check, checkUnless, needs } from '../check.ts';
import {
  afterCapture,
  approved,
  authorization,
  capture,
  captured,
  extension,
  increment,
  inquire,
  type Kit,
  placed,
  refund,
  reported,
  send,
  settled,
  tenth,
  voiding,
} from '../kit.ts';
import { demandRefusal } from './identifiers.ts';

const unless = (ability: keyof Capabilities, otherwise: string) => (kit: Kit) =>
  kit.description.authorizations?.[ability] ? undefined : otherwise;
const several = unless('severalCaptures', 'the processor takes one capture of an authorization');
const refunds = unless('refunds', 'the processor cannot refund');
const increments = unless('increments', 'the processor cannot increment');
const extensions = unless('extension', 'the processor cannot extend');

/** What is charged, given back and refunded: never more than there is. */
export const AMOUNTS: readonly Check[] = [
  check('captures: the whole, and not a unit more', async (kit) => {
    const hold = await placed(kit);
    const more = capture(hold, hold.amount + 1n);
    await demandRefusal(kit, 'capture', more, 'a capture of more than was reserved', TOO_MUCH);
    await expectBooks(kit, hold.requestId, {});
    await approved(kit, 'capture', capture(hold, hold.amount));
    await demandRefusal(kit, 'capture', capture(hold, 1n), 'a capture of what was captured already');
    await expectBooks(kit, hold.requestId, { captured: hold.amount });
  }),
  checkUnless(several, 'captures: several, up to the whole', async (kit) => {
    const hold = await placed(kit);
    for (let part = 1n; part <= 3n; part += 1n) {
      const result = await approved(kit, 'capture', capture(hold, tenth(kit)));
      assert.equal(result.amountReleased, 0n, 'a capture that is not final gives nothing back');
      await expectBooks(kit, hold.requestId, { captured: part * tenth(kit) });
    }
    await demandRefusal(kit, 'capture', capture(hold, tenth(kit) * 7n + 1n), 'a capture of more than is left');
    await approved(kit, 'capture', capture(hold, tenth(kit) * 7n));
    await expectBooks(kit, hold.requestId, { captured: hold.amount });
  }),
  checkUnless(several, 'captures: 20 at once, never more than was reserved', async (kit) => {
    const hold = await placed(kit);
    const requests = Array.from({ length: 20 }, () => capture(hold, tenth(kit)));
    const ended = await Promise.allSettled(requests.map((request) => send(kit, 'capture', request)));
    const done = ended.filter((one) => one.status === 'fulfilled' && one.value.answer === Answer.APPROVED).length;
    assert(done <= 10, `${done} captures of a tenth were approved`);
    const again = await Promise.all(requests.map((request) => settled(kit, 'capture', request)));
    const charged = again.filter(({ answer }) => answer === Answer.APPROVED).length;
    await expectBooks(kit, hold.requestId, { captured: BigInt(charged) * tenth(kit) });
  }),
  check('captures: a final one gives the rest back', async (kit) => {
    const hold = await placed(kit);
    const result = await approved(kit, 'capture', capture(hold, tenth(kit), true));
    assert.equal(result.amountReleased, tenth(kit) * 9n, 'amount_released');
    await demandRefusal(kit, 'capture', capture(hold, 1n), 'a capture after the final one');
    await expectBooks(kit, hold.requestId, { captured: tenth(kit), voided: tenth(kit) * 9n });
  }),
  checkUnless(needs('singleCapture'), 'captures: one only, where the authorization says so', async (kit) => {
    const hold = authorization(kit, kit.profile.tokens.singleCapture);
    const { capabilities } = await approved(kit, 'authorize', hold);
    assert.equal(capabilities?.severalCaptures, false, 'the capability several_captures of this authorization');
    const result = await approved(kit, 'capture', capture(hold, tenth(kit)));
    assert.equal(result.amountReleased, tenth(kit) * 9n, 'a single capture gives the rest back');
    await demandRefusal(kit, 'capture', capture(hold, 1n), 'a second capture');
    await expectBooks(kit, hold.requestId, { captured: tenth(kit), voided: tenth(kit) * 9n });
  }),
  check("captures: of one's own hold only", async (kit) => {
    const hold = await placed(kit);
    const request = capture(hold, tenth(kit));
    const others = { ...request, merchantId: kit.profile.otherMerchantId };
    await demandRefusal(kit, 'capture', others, "another merchant's capture");
    const foreign = { ...capture(hold, tenth(kit)), currency: kit.profile.otherCurrency };
    await demandRefusal(kit, 'capture', foreign, 'a capture in another currency');
    const unplaced = capture(authorization(kit), tenth(kit));
    await demandRefusal(kit, 'capture', unplaced, 'a capture of a hold that was never placed');
    await expectBooks(kit, hold.requestId, {});
  }),
  check('voids: the whole; nothing can be captured afterwards', async (kit) => {
    const hold = await placed(kit);
    const { amountReleased } = await approved(kit, 'void', voiding(hold));
    assert.equal(amountReleased, hold.amount, 'amount_released');
    await demandRefusal(kit, 'capture', capture(hold, 1n), 'a capture of what was voided');
    await demandNothingLeft(kit, hold);
    await expectBooks(kit, hold.requestId, { voided: hold.amount });
  }),
  checkUnless(several, 'voids: what is left of a hold captured in part', async (kit) => {
    const { hold } = await captured(kit);
    const { amountReleased } = await approved(kit, 'void', voiding(hold));
    assert.equal(amountReleased, tenth(kit) * 9n, 'amount_released');
    await demandRefusal(kit, 'capture', capture(hold, 1n), 'a capture of what was voided');
    await demandNothingLeft(kit, hold);
    await expectBooks(kit, hold.requestId, { captured: tenth(kit), voided: tenth(kit) * 9n });
  }),
  check('voids: of a hold that was never placed, refused', async (kit) => {
    const release = voiding(authorization(kit));
    await demandRefusal(kit, 'void', release, 'a void of a hold that was never placed', ['authorization_not_found']);
  }),
  checkUnless(needs('authorization', 'declined'), 'voids: of a hold that was declined, refused', async (kit) => {
    const hold = authorization(kit, kit.profile.tokens.authorization.declined);
    await settled(kit, 'authorize', hold);
    await demandRefusal(kit, 'void', voiding(hold), 'a void of a hold that was declined', NOTHING_LEFT);
    await demandRefusal(kit, 'capture', capture(hold, 1n), 'a capture of a hold that was declined');
  }),
  checkUnless(needs('expiresSoon'), 'captures: not after the end of the hold', async (kit) => {
    const hold = authorization(kit, kit.profile.tokens.expiresSoon);
    const { expiresAt } = await approved(kit, 'authorize', hold);
    assert(expiresAt, 'the hold of tokens.expiresSoon has an end');
    const waitMs = timestampMs(expiresAt) - Date.now() + 500;
    assert(waitMs < kit.profile.eventWithinMs, `the hold of tokens.expiresSoon ends in ${waitMs} ms, too late to wait`);
    await sleep(Math.max(0, waitMs));
    const codes = ['authorization_expired'];
    await demandRefusal(kit, 'capture', capture(hold, 1n), 'a capture after the end of the hold', codes);
  }),
  checkUnless(
    (kit) => refunds(kit) ?? several(kit),
    'refunds: of one capture, not of another',
    async (kit) => {
      const { hold, capture: of } = await captured(kit);
      await approved(kit, 'capture', capture(hold, tenth(kit)));
      const more = refund(of, tenth(kit) + 1n);
      await demandRefusal(kit, 'refund', more, 'a refund of more than its capture', ['amount_exceeds_capture']);
      const strange = { ...refund(of, 1n), captureRequestId: uuidv7() };
      await demandRefusal(kit, 'refund', strange, 'a refund of a capture that was never made', ['capture_not_found']);
      await expectBooks(kit, hold.requestId, { captured: tenth(kit) * 2n });
    },
  ),
  checkUnless(
    (kit) => refunds(kit) ?? needs('reversed')(kit),
    'refunds: not of what was taken back',
    async (kit) => {
      const { capture: of } = await captured(kit, kit.profile.tokens.reversed);
      await reported(kit, 'captureReversed', of.requestId);
      const codes = ['amount_exceeds_capture'];
      await demandRefusal(kit, 'refund', refund(of, 1n), 'a refund of what was taken back', codes);
    },
  ),
  checkUnless(refunds, 'refunds: up to the capture, and not a unit more', async (kit) => {
    const { hold, capture: of } = await captured(kit);
    const more = refund(of, tenth(kit) + 1n);
    await demandRefusal(kit, 'refund', more, 'a refund of more than was captured', ['amount_exceeds_capture']);
    await approved(kit, 'refund', refund(of, 1n));
    await demandRefusal(kit, 'refund', refund(of, tenth(kit)), 'a refund of more than is left of the capture');
    await approved(kit, 'refund', refund(of, tenth(kit) - 1n));
    await demandRefusal(kit, 'refund', refund(of, 1n), 'a refund of what was refunded');
    await expectBooks(kit, hold.requestId, { ...afterCapture(kit), refunded: tenth(kit) });
  }),
  checkUnless(refunds, 'refunds: 10 at once, never more than the capture', async (kit) => {
    const { hold, capture: of } = await captured(kit);
    const part = tenth(kit) / 2n;
    const requests = Array.from({ length: 10 }, () => refund(of, part));
    await Promise.allSettled(requests.map((request) => send(kit, 'refund', request)));
    const again = await Promise.all(requests.map((request) => settled(kit, 'refund', request)));
    const done = again.filter(({ answer }) => answer === Answer.APPROVED).length;
    assert(done <= 2, `${done} refunds of half the capture were approved`);
    await expectBooks(kit, hold.requestId, { ...afterCapture(kit), refunded: BigInt(done) * part });
  }),
  checkUnless(increments, 'increments: add to what can be captured', async (kit) => {
    const hold = await placed(kit);
    await approved(kit, 'incrementAuthorization', increment(hold, tenth(kit)));
    const whole = hold.amount + tenth(kit);
    await demandRefusal(kit, 'capture', capture(hold, whole + 1n), 'a capture of more than was reserved');
    await approved(kit, 'capture', capture(hold, whole));
    await demandRefusal(kit, 'incrementAuthorization', increment(hold, 1n), 'an increment of a hold that is captured');
    await expectBooks(kit, hold.requestId, { captured: whole, incremented: tenth(kit) });
  }),
  checkUnless(increments, 'increments: what they added is voided, too', async (kit) => {
    const hold = await placed(kit);
    await approved(kit, 'incrementAuthorization', increment(hold, tenth(kit)));
    const { amountReleased } = await approved(kit, 'void', voiding(hold));
    assert.equal(amountReleased, hold.amount + tenth(kit), 'amount_released');
    await expectBooks(kit, hold.requestId, { voided: hold.amount + tenth(kit), incremented: tenth(kit) });
  }),
  check('authorization: the same answer after all that follows it', async (kit) => {
    const hold = authorization(kit);
    const first = await approved(kit, 'authorize', hold);
    if (!increments(kit)) await approved(kit, 'incrementAuthorization', increment(hold, tenth(kit)));
    if (!extensions(kit)) await approved(kit, 'extendAuthorization', extension(hold));
    const request = capture(hold, tenth(kit));
    const charged = await approved(kit, 'capture', request);
    if (!refunds(kit)) await approved(kit, 'refund', refund(request, 1n));
    await settled(kit, 'void', voiding(hold));
    assert.deepEqual(await send(kit, 'authorize', hold), first, 'the answer to the repeated authorization');
    assert.deepEqual((await inquire(kit, hold)).result, first, 'the result of an inquiry about the authorization');
    assert.deepEqual(await send(kit, 'capture', request), charged, 'the answer to the repeated capture');
  }),
  checkUnless(extensions, 'extensions: never an earlier end; not of a hold that is closed', async (kit) => {
    const hold = authorization(kit);
    const { expiresAt } = await approved(kit, 'authorize', hold);
    const extended = await approved(kit, 'extendAuthorization', extension(hold));
    if (expiresAt && extended.expiresAt)
      assert(timestampMs(extended.expiresAt) >= timestampMs(expiresAt), 'expires_at');
    await approved(kit, 'void', voiding(hold));
    await demandRefusal(kit, 'extendAuthorization', extension(hold), 'an extension of a hold that was voided');
    await expectBooks(kit, hold.requestId, { voided: hold.amount });
  }),
];

/** A second void gives nothing back: approved with 0, or refused. */
async function demandNothingLeft(kit: Kit, hold: Parameters<typeof voiding>[0]): Promise<void> {
  const { answer, amountReleased, errorCode } = await settled(kit, 'void', voiding(hold));
  if (answer === Answer.APPROVED) assert.equal(amountReleased, 0n, 'amount_released of a second void');
  else {
    assert.equal(answer, Answer.NOT_PERFORMED, 'the answer to a second void');
    assert(NOTHING_LEFT.includes(errorCode), `a void that finds nothing left was answered ${errorCode}`);
  }
}

const TOO_MUCH = ['amount_exceeds_authorization'];

/** Codes of a void by which core knows that nothing is left to give back. */
const NOTHING_LEFT = [
  'authorization_expired',
  'authorization_not_found',
  'authorization_not_approved',
  'authorization_voided',
  'authorization_closed',
];
