import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Answer, type Entry, EntryKind } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { addUp, differences } from '../books.ts';
import { type Check, lastCheck } from '../check.ts';
import type { Kit } from '../kit.ts';
import { capture, decrease, increment, type Request, refund, voiding } from '../requests.ts';

/** What the books must show of everything that was answered. */
export const CLOSING: readonly Check[] = [
  lastCheck(
    'books: everything that was answered stands in them, and no two entries share an identifier',
    async (kit) => {
      await endAccepted(kit);
      const entries = await kit.list();
      const known = new Map(entries.map((entry) => [entry.requestId, entry]));
      assert.equal(known.size, entries.length, 'an identifier stands in the books twice');
      const found = [...kit.memory.answered.values()].flatMap((one) =>
        differences(one, known.get(one.request.requestId)),
      );
      assert.deepEqual(found.slice(0, 5), []);
    },
  ),
  lastCheck('books: every authorization adds up', async (kit) => {
    const entries = await kit.list();
    const ours = new Set(
      [...kit.memory.answered.values()].map(({ request }) => request.authorizationRequestId ?? request.requestId),
    );
    const byAuthorization = Map.groupBy(entries, (entry) => doneWith(entry) || entry.requestId);
    const isApproved = ({ kind, answer }: Entry) => kind === EntryKind.AUTHORIZATION && answer === Answer.APPROVED;
    for (const { requestId } of entries.filter((entry) => ours.has(entry.requestId) && isApproved(entry))) {
      addUp(byAuthorization.get(requestId) ?? [], requestId);
    }
  }),
  lastCheck('books: no two authorizations share a reference', async (kit) => {
    // Core finds an authorization that was lost by it.
    const approved = [...kit.memory.answered.values()].filter(
      ({ request, result }) => request.method === 'authorize' && result.answer === Answer.APPROVED,
    );
    const byReference = Map.groupBy(approved, ({ result }) => result.reference);
    const shared = [...byReference].filter(([, of]) => of.length > 1).map(([reference]) => reference);
    assert.deepEqual(shared.slice(0, 5), []);
  }),
  lastCheck('books: nothing that nobody asked for', async (kit) => {
    const entries = await kit.list();
    const { memory } = kit;
    // What comes before the first of this run is of an earlier one, and what is about an authorization of it.
    const ours = entries.slice(
      Math.max(
        0,
        entries.findIndex(({ requestId }) => memory.sent.has(requestId)),
      ),
    );
    const isOurs = (entry: Entry) => doneWith(entry) === '' || memory.sent.has(doneWith(entry));
    assert.deepEqual(memory.unasked(ours.filter(isOurs)).slice(0, 5), []);
  }),
  lastCheck('books: pages without gap or repeat, oldest first, of one authorization too', async (kit) => {
    const whole = await kit.list();
    const small = await kit.list({}, Math.min(1_000, Math.max(2, Math.ceil(whole.length / 40))));
    assert.deepEqual(small.map(idOf), whole.map(idOf), 'small pages and large ones list the same');
    const busiest = Map.groupBy(whole.filter(doneWith), doneWith);
    for (const [id, own] of [...busiest].sort(([, one], [, two]) => two.length - one.length).slice(0, 1)) {
      const listed = await kit.list({ authorizationRequestId: id }, 2);
      assert.deepEqual(listed.map(idOf).sort(), [id, ...own.map(idOf)].sort(), 'the entries of one authorization');
    }
    const { entries: byDefault } = await kit.client.listEntries({});
    const first = whole.slice(0, byDefault.length).map(idOf);
    assert.deepEqual(byDefault.map(idOf), first, 'a page for which no size was asked');
    assert(byDefault.length > 0 || whole.length === 0, 'a page for which no size was asked has no entry');
    await assert.rejects(
      kit.client.listEntries({ pageToken: 'no page of yours' }),
      'a page token that is none is refused',
    );
  }),
  lastCheck('books: in the order in which identifiers were first seen, fences too', async (kit) => {
    const first = await kit.placed();
    const fenced = kit.authorization();
    if (kit.description.fences) await kit.inquire(fenced);
    const second = await kit.placed();
    const entries = await kit.list();
    const ids = [first.requestId, ...(kit.description.fences ? [fenced.requestId] : []), second.requestId];
    const found = entries.filter(({ requestId }) => ids.includes(requestId));
    assert.deepEqual(found.map(idOf), ids, 'the order of two holds, and of an identifier that was fenced between them');
    const fence = entries.find(({ requestId }) => requestId === fenced.requestId);
    if (fence) assert.equal(EntryKind[fence.kind], 'FENCE', 'the kind of an identifier that was fenced');
  }),
  lastCheck('books: of one merchant, or of one account, when asked for it', async (kit) => {
    const { otherMerchantId, otherAccount, account } = kit.profile;
    const own = await kit.placed();
    const other = { ...kit.authorization(), merchantId: otherMerchantId };
    await kit.approved(other);
    const ofMerchant = await kit.list({ merchantId: otherMerchantId });
    assert(ofMerchant.map(idOf).includes(other.requestId), "the other merchant's hold is missing");
    const ofOwn = await kit.list({ merchantId: own.merchantId });
    // A fence names no merchant.
    const strange = [
      ...ofMerchant.filter(({ merchantId }) => ![otherMerchantId, ''].includes(merchantId)),
      ...ofOwn.filter(({ merchantId }) => ![own.merchantId, ''].includes(merchantId)),
    ];
    assert.deepEqual(strange.map(idOf), [], 'entries of another merchant than asked for');
    if (account === '' || otherAccount === undefined) return;
    const ofAccount = await kit.list({ account });
    assert(ofAccount.map(idOf).includes(own.requestId), "the account's hold is missing");
    const ofOther = await kit.list({ account: otherAccount });
    const foreign = [
      ...ofAccount.filter((entry) => entry.account !== account),
      ...ofOther.filter((entry) => entry.account !== otherAccount),
    ];
    assert.deepEqual(foreign.map(idOf), [], 'entries of another account than asked for');
  }),
  lastCheck('books: what changed since a time, in the order of changes, when asked for it', async (kit) => {
    const hold = await kit.placed();
    const untouched = await kit.placed();
    const request = capture(hold, kit.tenth, true);
    const fromMs = Math.max(...(await kit.list()).map(changedMs)) + 1;
    await sleep(10);
    await kit.approved(request);
    const changed = await kit.list({ changedFrom: timestampFromMs(fromMs) }, 1);
    const ids = changed.map(idOf);
    const missing = [hold, request].filter(({ requestId }) => !ids.includes(requestId));
    assert.deepEqual(missing, [], 'a capture and its authorization, which it changed, since before it');
    assert(!ids.includes(untouched.requestId), 'what did not change since a time');
    const early = changed.filter((entry) => changedMs(entry) < fromMs);
    assert.deepEqual(early.map(idOf), [], 'entries that changed before the time asked for');
    const inOrder = changed.toSorted((one, two) => changedMs(one) - changedMs(two));
    assert.deepEqual(ids, inOrder.map(idOf), 'the order of changes');
    const again = await kit.list({ changedFrom: changed[0]?.changedAt });
    assert(again.map(idOf).includes(ids[0] ?? ''), 'the time asked for is one of those listed');
    if (kit.can('refunds')) await demandChanged(kit, refund(request, 1n), [hold, request]);
    if (kit.can('increments')) await demandChanged(kit, increment(untouched, kit.tenth), [untouched]);
    if (kit.can('partialRelease')) await demandChanged(kit, decrease(untouched, kit.tenth), [untouched]);
    await demandChanged(kit, voiding(untouched), [untouched]);
  }),
];

/** An operation changes what it is about. */
async function demandChanged(kit: Kit, request: Request, about: readonly Request[]): Promise<void> {
  const fromMs = Math.max(...(await kit.list()).map(changedMs)) + 1;
  await sleep(10);
  await kit.approved(request);
  const changed = (await kit.list({ changedFrom: timestampFromMs(fromMs) })).map(idOf);
  const missing = [request, ...about].filter(({ requestId }) => !changed.includes(requestId));
  assert.deepEqual(missing, [], `what a ${request.method} has changed, since before it`);
}

function changedMs(entry: Entry): number {
  assert(entry.changedAt, `the entry ${entry.requestId} does not say when it changed`);
  return timestampMs(entry.changedAt);
}

const idOf = ({ requestId }: Entry) => requestId;

/** The authorization with which something was done; empty = none. One that renews another is an authorization itself. */
function doneWith({ kind, authorizationRequestId }: Entry): string {
  return kind === EntryKind.AUTHORIZATION ? '' : authorizationRequestId;
}

/** Asks about what was accepted, so that its answer is the final one. */
export async function endAccepted(kit: Kit): Promise<void> {
  const accepted = [...kit.memory.answered.values()].filter(({ result }) => result.answer === Answer.ACCEPTED);
  for (const { request } of accepted) await kit.findOut(request);
}
