import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureRequest, checkoutRequest, holdRequest, startFixture } from '../fixture.ts';

describe('voidAuthorization()', () => {
  const fixture = forSuite(startFixture);

  const voidOf = async (authorizationRequestId: string) =>
    (await fixture.client.void({ requestId: uuidv7(), authorizationRequestId })).result;

  it('releases what is left, once, also under repetitions', async () => {
    const hold = holdRequest();
    await fixture.client.authorize(hold);
    await fixture.client.capture(captureRequest(hold, 1_000n));
    const request = { requestId: uuidv7(), authorizationRequestId: hold.requestId };
    const answers = await Promise.all([1, 2, 3].map(() => fixture.client.void(request)));
    assert.equal(new Set(answers.map(({ result }) => result?.reference)).size, 1);
    const [authorization, , void_] = fixture.oracle((ledger) => ledger.entries(hold.requestId));
    assert.equal(authorization?.voided, 9_000);
    assert.equal(void_?.voided, 9_000);
    const late = await fixture.client.capture(captureRequest(hold, 1n));
    assert.equal(late.result?.errorCode, 'amount_exceeds_authorization');
  });

  it('approves when nothing is left: all captured, or released before', async () => {
    const hold = holdRequest();
    await fixture.client.authorize(hold);
    await fixture.client.capture(captureRequest(hold));
    assert.equal((await voidOf(hold.requestId))?.answer, Answer.APPROVED);
    assert.equal((await voidOf(hold.requestId))?.answer, Answer.APPROVED);
    assert.equal(
      fixture.oracle((ledger) => ledger.find(hold.requestId)?.voided),
      0,
    );
  });

  it('closes an open checkout, which releases nothing', async () => {
    const checkout = checkoutRequest();
    await fixture.client.createCheckout(checkout);
    for (let round = 0; round < 2; round += 1) {
      const result = await voidOf(checkout.requestId);
      assert.deepEqual([result?.answer, result?.amountReleased], [Answer.APPROVED, 0n]);
    }
    assert.equal(
      fixture.oracle((ledger) => ledger.find(checkout.requestId)?.voided),
      0,
    );
  });

  it('rejects what was never made, and what was refused', async () => {
    const declined = holdRequest('tok_sandbox_declined');
    await fixture.client.authorize(declined);
    assert.equal((await voidOf(declined.requestId))?.errorCode, 'authorization_not_approved');
    assert.equal((await voidOf(uuidv7()))?.errorCode, 'authorization_not_found');
  });
});
