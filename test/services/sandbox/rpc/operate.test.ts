import assert from 'node:assert/strict';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import { Answer, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureRequest, holdRequest, startFixture } from '../fixture.ts';

describe('an accepted operation', () => {
  const fixture = forSuite(startFixture);

  const placed = async (tokenId: string) => {
    const hold = holdRequest(tokenId);
    await fixture.client.authorize(hold);
    return hold;
  };
  const sums = (requestId: string) =>
    fixture.oracle((ledger) => {
      const { captured, voided, pending } = ledger.find(requestId) ?? assert.fail();
      return { captured, voided, pending };
    });
  const turn = async () => {
    fixture.clock.advance(2_000);
    await fixture.sandbox.reportDue();
  };

  it('is answered ACCEPTED until it ends; then repetitions, inquiries and the event agree', async () => {
    const hold = await placed('tok_sandbox_capture_accepted');
    const capture = { ...captureRequest(hold, 700n), finalCapture: true };
    const accepted = (await fixture.client.capture(capture)).result;
    assert.equal(accepted?.answer, Answer.ACCEPTED);
    assert.ok(accepted.expectedBy && timestampMs(accepted.expectedBy) > fixture.clock.now());
    assert.deepEqual((await fixture.client.capture(capture)).result, accepted);
    const atWork = await fixture.client.inquire({ requestId: capture.requestId, fence: true });
    assert.deepEqual([atWork.finding, atWork.result], [Finding.AT_WORK, accepted]);
    assert.deepEqual(sums(hold.requestId), { captured: 0, voided: 0, pending: 10_000 });
    const heard = fixture.core.next();
    await turn();
    const { event } = await heard;
    assert.ok(event.case === 'operationSettled');
    const { result } = event.value;
    assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 9_300n]);
    assert.deepEqual((await fixture.client.capture(capture)).result, result);
    assert.deepEqual((await fixture.client.inquire({ requestId: capture.requestId })).result, result);
    assert.deepEqual(sums(hold.requestId), { captured: 700, voided: 9_300, pending: 0 });
  });

  it('reserves its amount', async () => {
    const hold = await placed('tok_sandbox_capture_accepted');
    await fixture.client.capture(captureRequest(hold, 700n));
    const over = await fixture.client.capture(captureRequest(hold, 9_301n));
    assert.equal(over.result?.errorCode, 'amount_exceeds_authorization');
    const voided = await fixture.client.void({ requestId: uuidv7(), authorizationRequestId: hold.requestId });
    assert.equal(voided.result?.amountReleased, 9_300n);
    await turn();
    assert.deepEqual(sums(hold.requestId), { captured: 700, voided: 9_300, pending: 0 });
  });

  it('frees its amount when it is declined', async () => {
    const hold = await placed('tok_sandbox_capture_accepted_declined');
    await fixture.client.capture(captureRequest(hold));
    await turn();
    assert.deepEqual(sums(hold.requestId), { captured: 0, voided: 0, pending: 0 });
  });

  it('may be a hold, which can be captured once it ended, or a void', async () => {
    const hold = await placed('tok_sandbox_accepted');
    assert.equal((await fixture.client.capture(captureRequest(hold))).result?.errorCode, 'authorization_not_found');
    await turn();
    assert.equal((await fixture.client.capture(captureRequest(hold))).result?.answer, Answer.APPROVED);
    const voiding = await placed('tok_sandbox_void_accepted');
    const request = { requestId: uuidv7(), authorizationRequestId: voiding.requestId };
    assert.equal((await fixture.client.void(request)).result?.answer, Answer.ACCEPTED);
    await turn();
    assert.equal((await fixture.client.void(request)).result?.amountReleased, 10_000n);
  });

  it('ends after a restart, too', async () => {
    const hold = await placed('tok_sandbox_capture_accepted');
    await fixture.client.capture(captureRequest(hold, 700n));
    await fixture.restart();
    await turn();
    assert.deepEqual(sums(hold.requestId), { captured: 700, voided: 0, pending: 0 });
  });
});

describe('the features of an authorization', () => {
  const fixture = forSuite(startFixture);

  it('are in its answer', async () => {
    const all = { severalCaptures: true, increments: true, extension: true, refunds: true };
    const none = { severalCaptures: false, increments: false, extension: false, refunds: false };
    const cases = [
      ['tok_sandbox_ok', all],
      ['tok_sandbox_single_capture', { ...all, severalCaptures: false }],
      ['tok_sandbox_capture_only', none],
    ] as const;
    for (const [tokenId, expected] of cases) {
      const { capabilities } = (await fixture.client.authorize(holdRequest(tokenId))).result ?? {};
      assert.partialDeepStrictEqual(capabilities, expected);
    }
    const { authorizations, fences, name } = await fixture.client.describe({});
    assert.partialDeepStrictEqual(authorizations, all);
    assert.deepEqual([fences, name], [true, 'sandbox']);
  });

  it('are one capture, which releases the rest, for tok_sandbox_single_capture', async () => {
    const hold = holdRequest('tok_sandbox_single_capture');
    await fixture.client.authorize(hold);
    const { result } = await fixture.client.capture(captureRequest(hold, 700n));
    assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 9_300n]);
    assert.equal((await fixture.client.capture(captureRequest(hold, 1n))).result?.errorCode, 'not_supported');
  });

  it('include one account; a call without one uses it', async () => {
    const hold = { ...holdRequest(), account: 'acct_1' };
    await fixture.client.authorize(hold);
    const other = await fixture.client.capture({ ...captureRequest(hold, 1n), account: 'acct_2' });
    assert.equal(other.result?.errorCode, 'authorization_mismatch');
    const capture = captureRequest(hold, 1n);
    const { result } = await fixture.client.capture({ ...capture, account: 'acct_1' });
    assert.equal(result?.answer, Answer.APPROVED);
    assert.deepEqual((await fixture.client.capture({ ...capture, account: '' })).result, result);
    const voiding = { requestId: uuidv7(), authorizationRequestId: hold.requestId };
    const theirs = await fixture.client.void({ ...voiding, requestId: uuidv7(), merchantId: 'other' });
    assert.equal(theirs.result?.errorCode, 'authorization_mismatch');
    const voided = { ...voiding, merchantId: 'acme', account: 'acct_1' };
    const first = await fixture.client.void(voided);
    assert.deepEqual(await fixture.client.void(voiding), first);
    const { entries } = await fixture.client.listEntries({ account: 'acct_1' });
    assert.deepEqual(
      entries.map(({ requestId }) => requestId),
      [hold.requestId, capture.requestId, voided.requestId],
    );
  });
});
