import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureRequest, holdRequest, startFixture } from '../fixture.ts';

describe('one identifier', () => {
  const fixture = forSuite(startFixture);

  it('acts once for concurrent duplicates, and answers them alike', async () => {
    const hold = holdRequest();
    const answers = await Promise.all(Array.from({ length: 50 }, () => fixture.client.authorize(hold)));
    assert.equal(new Set(answers.map(({ result }) => result?.reference)).size, 1);
    const capture = captureRequest(hold, 300n);
    await Promise.all(Array.from({ length: 50 }, () => fixture.client.capture(capture)));
    assert.equal(
      fixture.oracle((ledger) => ledger.find(hold.requestId)?.captured),
      300,
    );
    assert.equal(
      fixture.oracle((ledger) => ledger.entries(hold.requestId).length),
      2,
    );
  });

  it('gets the same answer after a restart', async () => {
    const [approved, declined, oct] = [holdRequest(), holdRequest('tok_sandbox_declined'), holdRequest()];
    const ask = async () => [
      await fixture.client.authorize(approved),
      await fixture.client.authorize(declined),
      await fixture.client.credit(oct),
    ];
    const first = await ask();
    await fixture.restart();
    assert.deepEqual(await ask(), first);
  });

  const others = [
    { amount: 9_999n },
    { currency: 'USD' },
    { merchantId: 'other' },
    { terminalId: 'till-2' },
    { userId: 'user-2' },
    { tokenId: 'tok_sandbox_slow' },
  ];
  for (const other of others) {
    it(`rejects another ${Object.keys(other)}`, async () => {
      const hold = holdRequest();
      await fixture.client.authorize(hold);
      const { result } = await fixture.client.authorize({ ...hold, ...other });
      assert.equal(result?.answer, Answer.NOT_PERFORMED);
      assert.equal(result.errorCode, 'identifier_reused');
    });
  }

  it('rejects another kind of operation', async () => {
    const hold = holdRequest();
    await fixture.client.authorize(hold);
    const oct = await fixture.client.credit(hold);
    const capture = await fixture.client.capture({ ...captureRequest(hold), requestId: hold.requestId });
    const void_ = await fixture.client.void({ requestId: hold.requestId, authorizationRequestId: uuidv7() });
    for (const { result } of [oct, capture, void_]) assert.equal(result?.errorCode, 'identifier_reused');
  });
});
