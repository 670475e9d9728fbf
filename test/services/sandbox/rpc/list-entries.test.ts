import assert from 'node:assert/strict';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { v7 as uuidv7 } from 'uuid';
import { Answer, type Entry, EntryKind } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { captureRequest, checkoutRequest, type Fixture, holdRequest, startFixture } from '../fixture.ts';

describe('listEntries()', () => {
  let fixture: Fixture;
  const hold = holdRequest();
  const capture = captureRequest(hold, 2_500n);
  const void_ = { requestId: uuidv7(), authorizationRequestId: hold.requestId };
  const oct = holdRequest('tok_sandbox_declined');
  const checkout = checkoutRequest();
  const fenced = uuidv7();
  before(async () => {
    fixture = await startFixture();
    await fixture.client.authorize(hold);
    await fixture.client.credit(oct);
    await fixture.client.capture(capture);
    fixture.clock.advance(5);
    await fixture.client.createCheckout(checkout);
    await fixture.client.void(void_);
    await fixture.client.inquire({ requestId: fenced, fence: true });
  });
  after(() => fixture.close());

  const brief = (entry: Entry) => [entry.requestId, entry.kind, entry.answer, entry.amount];

  it('lists everything in order, with amounts and answers', async () => {
    const { entries, nextPageToken } = await fixture.client.listEntries({});
    assert.equal(nextPageToken, '');
    assert.deepEqual(entries.map(brief), [
      [hold.requestId, EntryKind.AUTHORIZATION, Answer.APPROVED, 10_000n],
      [oct.requestId, EntryKind.CREDIT, Answer.DECLINED, 10_000n],
      [capture.requestId, EntryKind.CAPTURE, Answer.APPROVED, 2_500n],
      [checkout.requestId, EntryKind.AUTHORIZATION, Answer.UNSPECIFIED, 10_000n],
      [void_.requestId, EntryKind.VOID, Answer.APPROVED, 7_500n],
      [fenced, EntryKind.FENCE, Answer.NOT_PERFORMED, 0n],
    ]);
    const { captured, voided, reversed } = entries[0] ?? assert.fail();
    assert.deepEqual([captured, voided, reversed], [2_500n, 7_500n, 0n]);
  });

  it('pages without a gap or a repetition', async () => {
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await fixture.client.listEntries({ pageSize: 2, pageToken });
      seen.push(...page.entries.map(({ requestId }) => requestId));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    assert.deepEqual(seen, [
      hold.requestId,
      oct.requestId,
      capture.requestId,
      checkout.requestId,
      void_.requestId,
      fenced,
    ]);
  });

  it('lists one authorization with its operations', async () => {
    const page = { pageSize: 2, authorizationRequestId: hold.requestId };
    const first = await fixture.client.listEntries(page);
    const second = await fixture.client.listEntries({ ...page, pageToken: first.nextPageToken });
    const ids = [...first.entries, ...second.entries].map(({ requestId }) => requestId);
    assert.deepEqual(ids, [hold.requestId, capture.requestId, void_.requestId]);
    assert.equal(second.nextPageToken, '');
  });

  it('lists what changed since a time in the order of changes, and by pages what was not shown', async () => {
    const { entries } = await fixture.client.listEntries({});
    const times = new Map(entries.map(({ requestId, changedAt }) => [requestId, changedAt && timestampMs(changedAt)]));
    const changedMs = (requestId: string) => times.get(requestId) ?? assert.fail();
    assert.equal(changedMs(hold.requestId) >= changedMs(void_.requestId), true, 'the void changed the hold');
    const changedFrom = timestampFromMs(changedMs(checkout.requestId));
    const expected = entries
      .map(({ requestId }) => requestId)
      .filter((requestId) => changedMs(requestId) >= changedMs(checkout.requestId))
      .sort((one, two) => changedMs(one) - changedMs(two));
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await fixture.client.listEntries({ pageSize: 1, pageToken, changedFrom });
      seen.push(...page.entries.map(({ requestId }) => requestId));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    assert.deepEqual(seen, expected);
    assert(seen.includes(hold.requestId) && !seen.includes(oct.requestId));
    const { entries: ofMerchant } = await fixture.client.listEntries({ changedFrom, merchantId: 'nobody' });
    assert.deepEqual(ofMerchant, []);
  });

  it('rejects a page token that it did not issue', async () => {
    for (const pageToken of ['x', '-1', '1e3', ' 1', '7-1']) {
      await assert.rejects(fixture.client.listEntries({ pageToken }), { code: status.INVALID_ARGUMENT });
    }
  });
});
