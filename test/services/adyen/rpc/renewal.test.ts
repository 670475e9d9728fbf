import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { Answer, EntryKind, MerchantReason } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureRequest, type Hold, holdRequest, startFixture, voidRequest } from '../fixture.ts';

describe('an authorization that renews another one, at Adyen', () => {
  const fixture = forSuite(startFixture);

  const renewalOf = ({ requestId }: Hold) => ({
    ...holdRequest(),
    merchantReason: MerchantReason.REAUTHORIZATION,
    renews: requestId,
  });
  const entriesOf = async ({ requestId: authorizationRequestId }: Hold) =>
    (await fixture.client.listEntries({ authorizationRequestId })).entries;

  it('is a payment of its own, which the merchant initiates with the stored card', async () => {
    const hold = await fixture.placed();
    const renewal = renewalOf(hold);
    fixture.adyen.requests.length = 0;
    fixture.adyen.faults.push('lost');
    await assert.rejects(fixture.client.authorize(renewal), { code: status.UNAVAILABLE });
    const { result } = await fixture.client.authorize(renewal);
    assert.equal(result?.reference, fixture.paymentOf(renewal).pspReference);
    assert.notEqual(result?.reference, fixture.paymentOf(hold).pspReference);
    const sent = fixture.adyen.requests.map(({ body }) => body);
    assert.deepEqual(sent[1], sent[0], 'what is sent again');
    const { reference, shopperInteraction, recurringProcessingModel, industryUsage } = sent[0] ?? assert.fail();
    assert.deepEqual(
      [reference, shopperInteraction, recurringProcessingModel, industryUsage],
      [renewal.requestId, 'ContAuth', 'UnscheduledCardOnFile', undefined],
    );
  });

  it('is listed with the one before, of which it is no part, also after a restart', async () => {
    const hold = await fixture.placed();
    const renewal = renewalOf(hold);
    const { result } = await fixture.client.authorize(renewal);
    await fixture.restart();
    const [entry, ...more] = await entriesOf(renewal);
    assert.deepEqual([entry?.kind, entry?.authorizationRequestId], [EntryKind.AUTHORIZATION, hold.requestId]);
    assert.deepEqual([entry?.terminalId, entry?.userId, entry?.tokenId], ['till-1', 'user-1', 'stored_ok']);
    assert.deepEqual(more, []);
    assert.deepEqual(
      (await entriesOf(hold)).map(({ requestId, authorizationRequestId }) => [requestId, authorizationRequestId]),
      [[hold.requestId, '']],
    );
    assert.deepEqual((await fixture.client.authorize(renewal)).result, result);
    const { requestId } = await fixture.placed();
    for (const renews of [requestId, '']) {
      const other = await fixture.client.authorize({ ...renewal, renews });
      assert.equal(other.result?.errorCode, 'identifier_reused');
    }
  });

  it('delays nothing of the one before, whose void leaves it', async () => {
    const [captured, voided] = [await fixture.placed(), await fixture.placed()];
    const renewals = [renewalOf(captured), renewalOf(voided)];
    // One that has no result yet blocks nothing either.
    renewals.push({ ...renewalOf(captured), tokenId: 'stored_pending' });
    for (const renewal of renewals) await fixture.client.authorize(renewal);
    await fixture.captured(captured);
    assert.equal((await fixture.client.void(voidRequest(voided))).result?.answer, Answer.ACCEPTED);
    await fixture.notify();
    assert.equal((await fixture.books(captured)).captured, 10_000n);
    assert.equal((await fixture.books(voided)).voided, 10_000n);
    for (const renewal of renewals) {
      const { captured, voided, answer } = await fixture.books(renewal);
      assert.deepEqual([captured, voided, answer], [0n, 0n, Answer.APPROVED]);
      assert.equal((await fixture.client.capture(captureRequest(renewal))).result?.answer, Answer.ACCEPTED);
    }
  });
});
