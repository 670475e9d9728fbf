import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { Answer, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureRequest, startFixture } from '../fixture.ts';

describe('decreaseAuthorization()', () => {
  const fixture = forSuite(startFixture);

  const decreaseOf = (authorizationRequestId: string, amount = 500n) => {
    return { requestId: uuidv7(), authorizationRequestId, merchantId: 'acme', amount, currency: 'EUR' };
  };
  const answer = async (request: ReturnType<typeof decreaseOf>) => {
    const { result } = await fixture.client.decreaseAuthorization(request);
    return result?.errorCode || Answer[result?.answer ?? 0];
  };
  const voided = ({ requestId }: { requestId: string }) => fixture.oracle((ledger) => ledger.find(requestId)?.voided);

  it('gives a part back, once under one identifier, and leaves the rest to captures', async () => {
    const hold = await fixture.placed();
    const decrease = decreaseOf(hold.requestId);
    const answers = await Promise.all(Array.from({ length: 10 }, () => fixture.client.decreaseAuthorization(decrease)));
    assert.equal(new Set(answers.map(({ result }) => result?.reference)).size, 1);
    assert.equal(answers[0]?.result?.capabilities?.partialRelease, true);
    assert.equal(voided(hold), 500);
    assert.equal((await fixture.client.capture(captureRequest(hold, 9_501n))).result?.answer, Answer.NOT_PERFORMED);
    assert.equal((await fixture.client.capture(captureRequest(hold, 9_500n))).result?.answer, Answer.APPROVED);
  });

  it('rejects invalid ones, and gives nothing back', async () => {
    const closed = await fixture.placed();
    await fixture.client.capture(captureRequest(closed));
    const open = await fixture.placed();
    const limited = await fixture.placed('tok_sandbox_capture_only');
    const cases = [
      [decreaseOf(uuidv7()), 'authorization_not_found'],
      [decreaseOf(closed.requestId), 'authorization_closed'],
      [decreaseOf(limited.requestId), 'not_supported'],
      [decreaseOf(open.requestId, 10_000n), 'amount_exceeds_authorization'],
      [{ ...decreaseOf(open.requestId), merchantId: 'other' }, 'authorization_mismatch'],
      [{ ...decreaseOf(open.requestId), currency: 'USD' }, 'authorization_mismatch'],
      [decreaseOf((await fixture.placed('tok_sandbox_decrease_declined')).requestId), 'decrease_declined'],
    ] as const;
    for (const [request, errorCode] of cases) assert.equal(await answer(request), errorCode);
    assert.equal(voided(open), 0);
  });

  it('holds the part back while it is accepted, and gives it back later', async () => {
    const hold = await fixture.placed('tok_sandbox_decrease_accepted');
    assert.equal(await answer(decreaseOf(hold.requestId)), 'ACCEPTED');
    assert.equal(voided(hold), 0);
    const most = await fixture.client.capture(captureRequest(hold, 9_501n));
    assert.equal(most.result?.errorCode, 'amount_exceeds_authorization');
    fixture.clock.advance(3_000);
    await fixture.sandbox.reportDue();
    assert.equal(voided(hold), 500);
  });

  it('succeeds, though its answer is lost, for tok_sandbox_decrease_timeout_applied', async () => {
    const hold = await fixture.placed('tok_sandbox_decrease_timeout_applied');
    const decrease = decreaseOf(hold.requestId);
    await fixture.lose(decrease.requestId, (options) => fixture.client.decreaseAuthorization(decrease, options));
    const { finding, result } = await fixture.client.inquire({ requestId: decrease.requestId, fence: true });
    assert.deepEqual([finding, result?.answer], [Finding.DONE, Answer.APPROVED]);
  });
});
