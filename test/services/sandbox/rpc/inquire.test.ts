import assert from 'node:assert/strict';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { v7 as uuidv7 } from 'uuid';
import { Answer, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureRequest, checkoutRequest, holdRequest, startFixture } from '../fixture.ts';

describe('inquire()', () => {
  const fixture = forSuite(startFixture);

  it('returns the answer of each kind of operation', async () => {
    const hold = holdRequest();
    const capture = captureRequest(hold, 5n);
    const oct = holdRequest('tok_sandbox_declined');
    const void_ = { requestId: uuidv7(), authorizationRequestId: hold.requestId };
    const answers = [
      [hold.requestId, (await fixture.client.authorize(hold)).result],
      [capture.requestId, (await fixture.client.capture(capture)).result],
      [oct.requestId, (await fixture.client.credit(oct)).result],
      [void_.requestId, (await fixture.client.void(void_)).result],
    ] as const;
    for (const [requestId, result] of answers) {
      const found = await fixture.client.inquire({ requestId, fence: true });
      assert.equal(found.finding, Finding.DONE);
      assert.deepEqual(found.result, result);
      assert.equal(found.fenced, false);
    }
  });

  it('leaves an unseen identifier free without a fence', async () => {
    const hold = holdRequest();
    const found = await fixture.client.inquire({ requestId: hold.requestId });
    assert.equal(found.finding, Finding.NEVER_SEEN);
    assert.equal(found.fenced, false);
    assert.equal((await fixture.client.authorize(hold)).result?.answer, Answer.APPROVED);
  });

  it('makes every late request NOT_PERFORMED with a fence, for ever', async () => {
    const hold = holdRequest();
    const { requestId } = hold;
    const placed = holdRequest();
    await fixture.client.authorize(placed);
    for (let round = 0; round < 2; round += 1) {
      const found = await fixture.client.inquire({ requestId, fence: true });
      assert.equal(found.finding, Finding.NEVER_SEEN);
      assert.equal(found.fenced, true);
      const late = [
        await fixture.client.authorize(hold),
        await fixture.client.credit(hold),
        await fixture.client.capture({ ...captureRequest(placed), requestId }),
        await fixture.client.void({ requestId, authorizationRequestId: placed.requestId }),
      ];
      for (const { result } of late) {
        assert.equal(result?.answer, Answer.NOT_PERFORMED);
        assert.equal(result.errorCode, 'fenced');
      }
      await assert.rejects(fixture.client.createCheckout({ ...checkoutRequest(), requestId }), {
        code: status.FAILED_PRECONDITION,
        details: 'fenced',
      });
      await fixture.restart();
    }
    const { captured, voided } = fixture.oracle((ledger) => ledger.find(placed.requestId)) ?? assert.fail();
    assert.deepEqual([captured, voided], [0, 0]);
  });

  it('is atomic with a request that arrives at the same time', async () => {
    const races = await Promise.all(
      Array.from({ length: 200 }, async (_, race) => {
        const hold = holdRequest();
        const inquire = () => fixture.client.inquire({ requestId: hold.requestId, fence: true });
        const authorize = () => fixture.client.authorize(hold);
        const [found, authorized] =
          race % 2 === 0
            ? await Promise.all([inquire(), authorize()])
            : await Promise.all([authorize(), inquire()]).then(([a, i]) => [i, a] as const);
        return [found.finding, authorized.result?.errorCode];
      }),
    );
    for (const [finding, errorCode] of races) {
      assert.equal(errorCode, finding === Finding.NEVER_SEEN ? 'fenced' : '');
    }
    assert.equal(new Set(races.map(([finding]) => finding)).size, 2, 'both orders occur');
  });

  it('finds what tok_sandbox_timeout_applied did, hold and OCT', async () => {
    for (const call of [fixture.client.authorize, fixture.client.credit]) {
      const request = holdRequest('tok_sandbox_timeout_applied');
      await fixture.lose(request.requestId, (options) => call(request, options));
      const found = await fixture.client.inquire({ requestId: request.requestId, fence: true });
      assert.equal(found.finding, Finding.DONE);
      assert.equal(found.result?.answer, Answer.APPROVED);
    }
  });

  it('finds nothing for tok_sandbox_timeout_lost, and fences it', async () => {
    for (const call of [fixture.client.authorize, fixture.client.credit]) {
      const request = holdRequest('tok_sandbox_timeout_lost');
      await assert.rejects(call(request, { timeoutMs: 100 }), { code: status.DEADLINE_EXCEEDED });
      const found = await fixture.client.inquire({ requestId: request.requestId, fence: true });
      assert.equal(found.finding, Finding.NEVER_SEEN);
      assert.equal(found.fenced, true);
      assert.equal((await call(request)).result?.errorCode, 'fenced');
    }
  });

  it('reports an open checkout as in progress, and as ended once it has expired', async () => {
    const request = checkoutRequest();
    const { expiresAt } = await fixture.client.createCheckout(request);
    assert.ok(expiresAt);
    const inquire = () => fixture.client.inquire({ requestId: request.requestId, fence: true });
    assert.equal((await inquire()).finding, Finding.AT_WORK);
    fixture.clock.advance(timestampMs(expiresAt) - fixture.clock.now());
    for (let round = 0; round < 2; round += 1) {
      const found = await inquire();
      assert.equal(found.finding, Finding.DONE);
      assert.equal(found.result?.errorCode, 'checkout_expired');
    }
  });
});
