import assert from 'node:assert/strict';
import { drawId } from '../../../platform/draw-id.ts';
import { Answer, type Entry, EntryKind, Finding } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Check, can, checkUnless, supported } from '../check.ts';
import { isSupported, KINDS, type Kind } from '../kinds.ts';
import type { Kit } from '../kit.ts';
import {
  capture,
  decrease,
  extension,
  type Hold,
  increment,
  type Request,
  refund,
  renewal,
  voiding,
} from '../requests.ts';

const renews = can('renewals', 'the processor keeps no renewals');

/** Authorizations that renew others: core has both until it gives one back, and finds the chain in the books. */
export const RENEWALS: readonly Check[] = [
  checkUnless(
    renews,
    'renewals: the books show the one before, and no renewal among what was done with it',
    async (kit) => {
      const hold = await kit.placed();
      const first = await renewed(kit, hold);
      const second = await renewed(kit, first);
      for (const [own, before] of [[hold], [first, hold], [second, first]] as const) {
        const listed = await kit.list({ authorizationRequestId: own.requestId });
        const ids = listed.map(({ requestId }) => requestId);
        assert.deepEqual(ids, [own.requestId], 'what is listed of an authorization with which nothing was done');
        demandRenews(listed[0] as Entry, before?.requestId ?? '');
      }
      const references = [hold, first, second].map(
        ({ requestId }) => kit.memory.answered.get(requestId)?.result.reference,
      );
      assert.equal(new Set(references).size, 3, 'references of an authorization and of its renewals');
    },
  ),
  checkUnless(renews, 'renewals: of an authorization that the adapter does not know', async (kit) => {
    // Its records may have been restored to an earlier state.
    const hold = { ...kit.authorization(), requestId: drawId() };
    const own = await renewed(kit, hold);
    const [entry] = await kit.list({ authorizationRequestId: own.requestId });
    assert(entry, 'the books do not know it');
    demandRenews(entry, hold.requestId);
  }),
  checkUnless(renews, 'renewals: what is done with one is not done with the other', async (kit) => {
    const acts = ACTS.filter(({ kind }) => KINDS.some((one) => one.name === kind && isSupported(one, kit)));
    const cases = acts.flatMap((act) => [true, false].map((isBefore) => ({ ...act, isBefore })));
    const found = (await Promise.allSettled(cases.map((one) => doWithOne(kit, one)))).flatMap((one, index) => {
      const { what, isBefore } = cases[index] as (typeof cases)[number];
      const name = `${what} ${isBefore ? 'of the one before' : 'of the new one'}`;
      return one.status === 'fulfilled' ? [] : [`${name}: ${(one.reason as Error).message}`];
    });
    assert.equal(found.length, 0, found.join('\n'));
  }),
  checkUnless(
    (kit) => renews(kit) ?? can('refunds', 'the processor cannot refund')(kit),
    'renewals: a refund is of the capture of its own authorization',
    async (kit) => {
      const { hold, capture: of } = await kit.captured();
      const own = await renewed(kit, hold, kit.tenth * 9n);
      const misnamed = { ...refund(of, 1n), authorizationRequestId: own.requestId };
      await kit.refused(misnamed, 'a refund that names the renewal of the authorization', ['capture_not_found']);
      await kit.approved(refund(of, of.amount));
      await kit.expectBooks(hold, { ...kit.afterCapture, refunded: of.amount });
      await kit.expectBooks(own, {});
    },
  ),
  checkUnless(
    (kit) => renews(kit) ?? supported(KINDS.find(({ name }) => name === 'renewal') as Kind, 'accepted')(kit),
    'renewals: accepted, it delays nothing of the one before',
    async (kit) => {
      for (let round = 0; round < ROUNDS; round += 1) if (await captureMeanwhile(kit)) return;
    },
  ),
];

/** Renews an authorization. */
async function renewed(kit: Kit, hold: Hold, amount?: bigint) {
  const request = renewal(hold, hold.tokenId, amount);
  await kit.approved(request);
  return request;
}

function demandRenews({ kind, authorizationRequestId }: Entry, before: string): void {
  assert.equal(EntryKind[kind], 'AUTHORIZATION', 'the kind of a renewal');
  assert.equal(
    authorizationRequestId,
    before,
    'authorization_request_id of an authorization is the one that it renews',
  );
}

/** What may be done with an authorization. */
const ACTS: readonly { what: string; kind: Kind['name']; of: (hold: Hold, kit: Kit) => Request }[] = [
  { what: 'a capture', kind: 'capture', of: (hold, { tenth }) => capture(hold, tenth) },
  { what: 'a final capture', kind: 'capture', of: (hold, { tenth }) => capture(hold, tenth, true) },
  { what: 'a void', kind: 'void', of: (hold) => voiding(hold) },
  { what: 'an increment', kind: 'increment', of: (hold, { tenth }) => increment(hold, tenth) },
  { what: 'a partial release', kind: 'decrease', of: (hold, { tenth }) => decrease(hold, tenth) },
  { what: 'an extension', kind: 'extension', of: (hold) => extension(hold) },
];

/** Does something with an authorization or with its renewal; the other one can be captured in full afterwards. */
async function doWithOne(kit: Kit, { of, isBefore }: (typeof ACTS)[number] & { isBefore: boolean }): Promise<void> {
  const hold = await kit.placed();
  const own = await renewed(kit, hold);
  const [used, other] = isBefore ? [hold, own] : [own, hold];
  await kit.approved(of(used, kit));
  await kit.demandAgreement(used);
  await kit.expectBooks(other, {});
  await kit.approved(capture(other, other.amount, true));
  await kit.demandAgreement(used);
  await kit.expectBooks(other, { captured: other.amount });
}

/** On a busy machine the renewal may have ended before the capture arrives. */
const ROUNDS = 3;

/** Captures an authorization while its renewal has no result. Returns whether the two have met. */
async function captureMeanwhile(kit: Kit): Promise<boolean> {
  const hold = await kit.placed();
  const own = renewal(hold, kit.profile.tokens.renewal.accepted);
  const sentMs = Date.now();
  const accepted = await kit.send(own);
  assert.equal(Answer[accepted.answer], 'ACCEPTED', 'a renewal with the token of its profile');
  await kit.approved(capture(hold, kit.tenth));
  const isMeanwhile = (await kit.inquire(own)).finding === Finding.AT_WORK;
  await kit.approved(voiding(hold));
  await kit.endOf(own, accepted, sentMs);
  await kit.expectBooks(own, {});
  await kit.expectBooks(hold, { captured: kit.tenth, voided: kit.tenth * 9n });
  return isMeanwhile;
}
