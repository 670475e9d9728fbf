import assert from 'node:assert/strict';
import { Answer, EntryKind, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import {
  booksAgree,
  captureRequest,
  type Hold,
  holdRequest,
  inquiryOf,
  intentOf,
  startFixture,
  voidRequest,
} from '../fixture.ts';

describe('an authorization that renews another one, at Stripe', () => {
  const fixture = forSuite(startFixture);

  async function renewed() {
    const hold = await fixture.placed();
    const renewal = { ...holdRequest(), renews: hold.requestId };
    const { result } = await fixture.client.authorize(renewal);
    assert.equal(result?.answer, Answer.APPROVED);
    return { hold, renewal, result };
  }
  const entryOf = async ({ requestId }: Hold) =>
    (await fixture.entries(requestId)).find((one) => one.requestId === requestId);

  it('is a PaymentIntent that names the one before', async () => {
    const { hold, renewal } = await renewed();
    assert.equal(intentOf(fixture, renewal.requestId).metadata.holdfast_renews, hold.requestId);
    // The release before sent no such key, and its requests may be sent again.
    assert.equal('holdfast_renews' in intentOf(fixture, hold.requestId).metadata, false);
  });

  it('is listed with the one before, of which it is no part, also after a restart', async () => {
    const { hold, renewal, result } = await renewed();
    await fixture.restart();
    const [entry, ...more] = await fixture.entries(renewal.requestId);
    assert.deepEqual([entry?.kind, entry?.authorizationRequestId], [EntryKind.AUTHORIZATION, hold.requestId]);
    assert.deepEqual([entry?.terminalId, entry?.userId, entry?.tokenId], ['till-1', 'user-1', 'pm_card_visa']);
    assert.deepEqual(more, []);
    const before = await fixture.entries(hold.requestId);
    assert.deepEqual(
      before.map(({ requestId, authorizationRequestId }) => [requestId, authorizationRequestId]),
      [[hold.requestId, '']],
    );
    assert.deepEqual((await fixture.client.authorize(renewal)).result, result);
    const { requestId } = await fixture.placed();
    for (const renews of [requestId, '']) {
      const other = await fixture.client.authorize({ ...renewal, renews });
      assert.equal(other.result?.errorCode, 'identifier_reused');
    }
  });

  it('leaves the one before, which is captured until it is voided; then the new one is', async () => {
    const { hold, renewal } = await renewed();
    assert.equal((await fixture.client.capture(captureRequest(hold, 4_000n))).result?.answer, Answer.APPROVED);
    const { result } = await fixture.client.void(voidRequest(hold));
    assert.equal(result?.amountReleased, 6_000n);
    assert.equal((await fixture.client.capture(captureRequest(renewal))).result?.answer, Answer.APPROVED);
    for (const { requestId } of [hold, renewal]) await booksAgree(fixture, requestId);
  });

  it('is found at Stripe with the one before, when the ledger has lost it', async () => {
    const { hold, renewal, result } = await renewed();
    await fixture.sql('DELETE FROM stripe.entry WHERE request_id = $1', [renewal.requestId]);
    const asked = { ...inquiryOf(renewal), authorizationRequestId: hold.requestId };
    const found = await fixture.client.inquire(asked);
    assert.deepEqual([found.finding, found.result?.reference], [Finding.DONE, result.reference]);
    assert.equal((await entryOf(renewal))?.authorizationRequestId, hold.requestId);
    assert.equal((await fixture.client.authorize(renewal)).result?.reference, result.reference);
    await booksAgree(fixture, renewal.requestId);
  });
});
