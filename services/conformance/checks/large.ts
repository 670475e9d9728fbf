import assert from 'node:assert/strict';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Check, can, check, checkUnless } from '../check.ts';
import type { Kit } from '../kit.ts';
import { capture, type Hold, increment, refund, voiding } from '../requests.ts';

/** The contract's largest amount, minor units. */
const LARGEST = 999_999_999_999n;

/** What is kept exactly, however much or long it is. */
export const LARGE: readonly Check[] = [
  check('large: the largest amount is held, charged and given back to the unit', async (kit) => {
    const hold = { ...kit.authorization(), amount: largestOf(kit, kit.profile.currency) };
    await kit.approved(hold);
    if (kit.can('increments')) await refuseMore(kit, hold);
    if (hold.amount < LARGEST)
      await kit.refused(capture(hold, hold.amount + 1n), 'a capture of more than was reserved');
    const unit = unitOf(kit);
    const charge = capture(hold, hold.amount - unit);
    await kit.approved(charge);
    if (kit.can('severalCaptures')) await kit.approved(voiding(hold));
    const refunded = kit.can('refunds') ? charge.amount - unit : 0n;
    if (kit.can('refunds')) await kit.approved(refund(charge, refunded));
    await kit.expectBooks(hold, { captured: charge.amount, voided: unit, refunded });
  }),
  checkUnless(
    can('credits', 'the processor pays to no cards'),
    'large: the largest amount is paid to a card',
    async (kit) => {
      const amount = largestOf(kit, kit.profile.currency);
      await kit.approved({ ...kit.authorization(), method: 'credit', amount });
    },
  ),
  checkUnless(
    can('increments', 'the processor cannot increment'),
    'large: an amount grows beyond 32 bits',
    async (kit) => {
      const unit = unitOf(kit);
      const half = (largestOf(kit, kit.profile.currency) / 2n / unit) * unit;
      const hold = { ...kit.authorization(), amount: half };
      await kit.approved(hold);
      const more = increment(hold, half - unit);
      // An issuer may decline so much more.
      const { answer } = await kit.settled(more);
      const incremented = answer === Answer.APPROVED ? more.amount : 0n;
      await kit.approved(capture(hold, half + incremented));
      await kit.expectBooks(hold, { captured: half + incremented, incremented });
    },
  ),
  check('large: long names in any script are kept whole', async (kit) => {
    for (const letter of ['ü', '訂', '🧾']) {
      const names = { merchantReference: letter.repeat(64), memo: letter.repeat(128), userId: letter.repeat(64) };
      const hold: Hold = { ...kit.authorization(), ...names, terminalId: 't'.repeat(64) };
      await kit.approved(hold);
      await kit.approved(capture(hold, kit.tenth));
      await kit.expectBooks(hold, kit.afterCapture);
      await kit.demandAgreement(hold);
    }
  }),
  checkUnless(
    ({ profile }) => (profile.moreCurrencies.length > 0 ? undefined : { why: 'the profile names no moreCurrencies' }),
    'large: currencies that count otherwise than in hundredths, to the unit',
    async (kit) => {
      for (const currency of kit.profile.moreCurrencies) {
        const hold = { ...kit.authorization(), currency };
        await kit.approved(hold);
        // Not a round amount, so that one that is rounded shows.
        const charge = capture(hold, kit.tenth - unitOf(kit, currency));
        await kit.approved(charge);
        const refunded = kit.can('refunds') ? charge.amount : 0n;
        if (kit.can('refunds')) await kit.approved(refund(charge, refunded));
        const voided = kit.can('severalCaptures') ? 0n : hold.amount - charge.amount;
        await kit.expectBooks(hold, { captured: charge.amount, voided, refunded });
      }
    },
  ),
];

/** The largest amount that Describe lets the kit ask for. */
function largestOf({ description }: Kit, currency: string): bigint {
  const bounds = description.currencies.find((one) => one.currency === currency);
  return bounds?.largestAmount ?? LARGEST;
}

/** An increment beyond what the contract can say. */
async function refuseMore(kit: Kit, hold: Hold): Promise<void> {
  const more = increment(hold, LARGEST - hold.amount + 1n);
  const { answer } = await kit.settled(more);
  assert(answer !== Answer.APPROVED, 'an increment beyond 999 999 999 999 was approved');
}

/** Amounts are multiples of this. */
function unitOf({ description, profile }: Kit, of = profile.currency): bigint {
  return description.currencies.find(({ currency }) => currency === of)?.multipleOf || 1n;
}
