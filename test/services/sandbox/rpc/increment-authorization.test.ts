import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { Answer, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureRequest, startFixture } from '../fixture.ts';

describe('incrementAuthorization()', () => {
  const fixture = forSuite(startFixture);

  const incrementOf = (authorizationRequestId: string, amount = 500n) => {
    return { requestId: uuidv7(), authorizationRequestId, merchantId: 'acme', amount, currency: 'EUR' };
  };
  const answer = async (request: ReturnType<typeof incrementOf>) => {
    const { result } = await fixture.client.incrementAuthorization(request);
    return result?.errorCode || Answer[result?.answer ?? 0];
  };

  it('adds to what can be captured, once under one identifier', async () => {
    const hold = await fixture.placed();
    const increment = incrementOf(hold.requestId);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => fixture.client.incrementAuthorization(increment)),
    );
    assert.equal(new Set(answers.map(({ result }) => result?.reference)).size, 1);
    assert.equal(answers[0]?.result?.capabilities?.increments, true);
    assert.equal((await fixture.client.capture(captureRequest(hold, 10_501n))).result?.answer, Answer.NOT_PERFORMED);
    assert.equal((await fixture.client.capture(captureRequest(hold, 10_500n))).result?.answer, Answer.APPROVED);
  });

  it('rejects invalid increments, and adds nothing', async () => {
    const closed = await fixture.placed();
    await fixture.client.capture(captureRequest(closed));
    const open = await fixture.placed();
    const limited = await fixture.placed('tok_sandbox_capture_only');
    const cases = [
      [incrementOf(uuidv7()), 'authorization_not_found'],
      [incrementOf(closed.requestId), 'authorization_closed'],
      [incrementOf(limited.requestId), 'not_supported'],
      [incrementOf(open.requestId, 999_999_990_000n), 'amount_too_large'],
      [{ ...incrementOf(open.requestId), merchantId: 'other' }, 'authorization_mismatch'],
      [{ ...incrementOf(open.requestId), currency: 'USD' }, 'authorization_mismatch'],
      [incrementOf((await fixture.placed('tok_sandbox_increment_declined')).requestId), 'increment_declined'],
    ] as const;
    for (const [request, errorCode] of cases) assert.equal(await answer(request), errorCode);
    assert.equal(
      fixture.oracle((ledger) => ledger.find(open.requestId)?.incremented),
      0,
    );
  });

  it('succeeds, though its answer is lost, for tok_sandbox_increment_timeout_applied', async () => {
    const hold = await fixture.placed('tok_sandbox_increment_timeout_applied');
    const increment = incrementOf(hold.requestId);
    await fixture.lose(increment.requestId, (options) => fixture.client.incrementAuthorization(increment, options));
    const { finding, result } = await fixture.client.inquire({ requestId: increment.requestId, fence: true });
    assert.deepEqual([finding, result?.answer], [Finding.DONE, Answer.APPROVED]);
  });
});
