import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { Answer, EntryKind, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureRequest, holdRequest, startFixture } from '../fixture.ts';

describe('refund()', () => {
  const fixture = forSuite(startFixture);

  async function captured(tokenId?: string, amount = 1_000n) {
    const hold = holdRequest(tokenId);
    await fixture.client.authorize(hold);
    const capture = captureRequest(hold, amount);
    await fixture.client.capture(capture);
    return capture;
  }
  const refundOf = (capture: { requestId: string; authorizationRequestId: string }, amount = 400n) => ({
    requestId: uuidv7(),
    captureRequestId: capture.requestId,
    merchantId: 'acme',
    amount,
    currency: 'EUR',
    authorizationRequestId: capture.authorizationRequestId,
  });
  const answer = async (request: ReturnType<typeof refundOf>) => {
    const { result } = await fixture.client.refund(request);
    return result?.errorCode || Answer[result?.answer ?? 0];
  };
  const entryOf = (requestId: string) => fixture.oracle((ledger) => ledger.find(requestId)) ?? assert.fail();

  it('refunds parts of a capture up to the whole, also simultaneously', async () => {
    const capture = await captured();
    const answers = await Promise.all(Array.from({ length: 5 }, () => answer(refundOf(capture))));
    assert.deepEqual(answers.sort(), ['APPROVED', 'APPROVED', ...Array(3).fill('amount_exceeds_capture')]);
    assert.equal(await answer(refundOf(capture, 200n)), 'APPROVED');
    assert.equal(entryOf(capture.requestId).refunded, 1_000);
    assert.equal(entryOf(capture.authorizationRequestId).refunded, 1_000);
  });

  it('rejects anything but a capture of that authorization', async () => {
    const [one, two] = [await captured(), await captured()];
    const cases = [
      [{ ...refundOf(one), captureRequestId: uuidv7() }, 'capture_not_found'],
      [{ ...refundOf(one), captureRequestId: two.requestId }, 'capture_not_found'],
      [{ ...refundOf(one), authorizationRequestId: uuidv7() }, 'authorization_not_found'],
      [refundOf(await captured('tok_sandbox_capture_only')), 'not_supported'],
      [refundOf(await captured('tok_sandbox_refund_declined')), 'refund_declined'],
    ] as const;
    for (const [request, errorCode] of cases) assert.equal(await answer(request), errorCode);
  });

  it('never refunds what the card scheme reverses, which may reverse what was refunded', async () => {
    const [reversed, unattributed] = [
      await captured('tok_sandbox_reversed'),
      await captured('tok_sandbox_reversed_unattributed'),
    ];
    for (const capture of [reversed, unattributed]) assert.equal(await answer(refundOf(capture)), 'APPROVED');
    fixture.clock.advance(2_000);
    await fixture.sandbox.reportDue();
    const amounts = fixture.core.received.map(({ event }) => event.case === 'captureReversed' && event.value.amount);
    assert.deepEqual(amounts, [1_000n, 1_000n]);
    for (const capture of [reversed, unattributed]) {
      assert.equal(await answer(refundOf(capture, 1n)), 'amount_exceeds_capture');
    }
  });

  it('reserves what an accepted refund returns later', async () => {
    const capture = await captured('tok_sandbox_refund_accepted');
    const refund = refundOf(capture, 700n);
    assert.equal(await answer(refund), 'ACCEPTED');
    assert.equal(await answer(refundOf(capture, 301n)), 'amount_exceeds_capture');
    assert.equal(entryOf(capture.requestId).refunded, 0);
    fixture.clock.advance(2_000);
    await fixture.sandbox.reportDue();
    const { finding, result } = await fixture.client.inquire({ requestId: refund.requestId });
    assert.deepEqual([finding, result?.answer], [Finding.DONE, Answer.APPROVED]);
    assert.equal(entryOf(capture.requestId).refunded, 700);
    const { entries } = await fixture.client.listEntries({ authorizationRequestId: capture.authorizationRequestId });
    const listed = entries.find(({ kind }) => kind === EntryKind.REFUND);
    assert.deepEqual([listed?.captureRequestId, listed?.amount], [capture.requestId, 700n]);
  });
});
