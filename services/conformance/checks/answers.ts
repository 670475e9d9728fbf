import assert from 'node:assert/strict';
import { durationMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Answer, MerchantReason, MerchantReasonSchema } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { demandGuarantee, told } from '../answer.ts';
import { type Check, check, checkUnless, needs, noMatter, ofEachKind, type Prepare } from '../check.ts';
import { SKEW_MS } from '../inbox.ts';
import { isSupported, KINDS, type Kind } from '../kinds.ts';
import type { Kit } from '../kit.ts';

/** Each answer of each kind of operation. */
export const ANSWERS: readonly Check[] = [
  ...ofEachKind([
    { name: 'approved', run: beApproved },
    { name: 'declined', way: 'declined', run: (kit, prepare) => beRefused(kit, prepare, 'DECLINED') },
    { name: 'not performed', way: 'notPerformed', run: (kit, prepare) => beRefused(kit, prepare, 'NOT_PERFORMED') },
    { name: 'accepted, it ends in time and says how', way: 'accepted', run: beAccepted },
    { name: 'accepted, and refused later with its reason', way: 'acceptedRefused', run: beRefusedLater },
  ]),
  // An adapter that keeps no renewals may place one as any other authorization: core asks for none.
  ...KINDS.filter(({ name }) => name !== 'renewal').map(beUnable),
  check('initiator: the customer, or the merchant for any reason; a repetition may say otherwise', async (kit) => {
    const networkTransactionId = 'network-1';
    const initiated = REASONS.map((merchantReason) => ({
      customerPresent: false,
      merchantReason,
      networkTransactionId,
    }));
    for (const terms of [{ customerPresent: true }, ...initiated]) {
      const hold = { ...kit.authorization(), ...terms };
      const result = await kit.approved(hold);
      const otherwise = {
        ...hold,
        customerPresent: !terms.customerPresent,
        merchantReason: MerchantReason.UNSPECIFIED,
      };
      assert.deepEqual(await kit.send(otherwise), result, 'the answer to a repetition');
    }
  }),
  checkUnless(needs('unknown'), 'authorization: an unknown token is NOT_PERFORMED token_invalid', async (kit) => {
    const result = await kit.send(kit.authorization(kit.profile.tokens.unknown));
    assert.equal(told(result), 'NOT_PERFORMED token_invalid');
  }),
];

async function beApproved(kit: Kit, prepare: Prepare, { name }: Kind): Promise<void> {
  const beforeMs = Date.now();
  const result = await kit.settled(await prepare());
  assert.equal(told(result), 'APPROVED');
  assert.notEqual(result.reference, '', 'an approval has a reference');
  if (result.expiresAt) assert(timestampMs(result.expiresAt) > beforeMs + AT_LEAST_MS, 'expires_at is in the future');
  const isPlacing = name === 'authorization' || name === 'renewal';
  demandGuarantee(result, isPlacing && kit.description.guaranteedUntil);
  if (!isPlacing) return;
  assert.deepEqual(result.capabilities, kit.description.authorizations, 'the capabilities of this authorization');
}

async function beRefused(kit: Kit, prepare: Prepare, answer: 'DECLINED' | 'NOT_PERFORMED'): Promise<void> {
  const request = await prepare();
  const before = await kit.demandBooks(request);
  const result = await kit.settled(request);
  assert.equal(Answer[result.answer], answer);
  assert.notEqual(result.errorCode, '', 'a refusal has an error code');
  assert.deepEqual((await kit.inquire(request)).result, result, 'the result of an inquiry about a refusal');
  assert.deepEqual(await kit.send(request), result, 'the answer to a repeated request');
  assert.deepEqual(await kit.demandBooks(request), before, 'the sums of the authorization after a refusal');
}

const REASONS: readonly MerchantReason[] = MerchantReasonSchema.values.map(({ number }) => number);

/** A hold of the token that approves everything does not end during a check. */
const AT_LEAST_MS = 60_000;

/** What Describe says cannot be done is refused in the contract's words, not by an error status. */
function beUnable(kind: Kind): Check {
  const skip = (kit: Kit) => (isSupported(kind, kit) ? noMatter('the processor can do it') : undefined);
  return checkUnless(skip, `${kind.name}: refused where it cannot be done`, async (kit) => {
    assert.equal(told(await kit.send(await kind.prepare(kit))), 'NOT_PERFORMED not_supported');
  });
}

/** What is ACCEPTED ends by the time it says, and inquiry, event and repetition say alike how. */
async function beAccepted(kit: Kit, prepare: Prepare, kind: Kind): Promise<void> {
  // The hold that an operation needs may have been placed with the same token only if holds are not accepted with it.
  const request = await prepare();
  const sentMs = Date.now();
  const accepted = await kit.send(request);
  assert.equal(Answer[accepted.answer], 'ACCEPTED');
  const repeated = await kit.send(request);
  assert(
    repeated.answer !== Answer.ACCEPTED || accepted.expectedBy?.seconds === repeated.expectedBy?.seconds,
    'expected_by of a repeated request',
  );
  if (accepted.expectedBy) {
    const expectedMs = timestampMs(accepted.expectedBy);
    assert(expectedMs > sentMs, 'expected_by is in the future');
    const longest = kit.description.acceptedLongest?.[kind.name === 'renewal' ? 'authorization' : kind.name];
    const latestMs = Date.now() + (longest ? durationMs(longest) : ACCEPTED_LONGEST_MS) + SKEW_MS;
    assert(expectedMs <= latestMs, 'expected_by is later than accepted_longest of Describe allows');
  }
  const result = await kit.endOf(request, accepted, sentMs);
  if (repeated.answer !== Answer.ACCEPTED) assert.deepEqual(result, repeated, 'the result, which a repetition said');
  assert.deepEqual(await kit.send(request), result, 'the answer to a repeated request, after the end');
  const { said } = await kit.reported('operationSettled', request.requestId);
  assert.deepEqual(said.value.result, result, 'the result of the event OperationSettled');
  await kit.demandBooks(request);
}

/** What is ACCEPTED and then refused says why, in its event too, and has moved nothing. */
async function beRefusedLater(kit: Kit, prepare: Prepare): Promise<void> {
  const request = await prepare();
  const before = await kit.demandBooks(request);
  const sentMs = Date.now();
  const accepted = await kit.send(request);
  assert.equal(Answer[accepted.answer], 'ACCEPTED');
  const result = await kit.endOf(request, accepted, sentMs);
  assert.notEqual(Answer[result.answer], 'APPROVED', 'the end with the token of its profile');
  assert.notEqual(result.errorCode, '', 'a refusal has an error code');
  const { said } = await kit.reported('operationSettled', request.requestId);
  assert.deepEqual(said.value.result, result, 'the result of the event OperationSettled');
  assert.deepEqual(await kit.demandBooks(request), before, 'the sums of the authorization after a refusal');
}

/** Where Describe does not say it. */
const ACCEPTED_LONGEST_MS = 7 * 86_400_000;
