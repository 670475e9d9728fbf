import assert from 'node:assert/strict';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { v7 as uuidv7 } from 'uuid';
import { Answer, EntryKind, Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureRequest, holdRequest, startFixture } from '../fixture.ts';

describe('an authorization that renews another one', () => {
  const fixture = forSuite(startFixture);

  const renewalOf = ({ requestId, tokenId }: ReturnType<typeof holdRequest>) => ({
    ...holdRequest(tokenId),
    renews: requestId,
  });
  const renewed = async (tokenId?: string) => {
    const hold = await fixture.placed(tokenId);
    const renewal = renewalOf(hold);
    const { result } = await fixture.client.authorize(renewal);
    return { hold, renewal, result };
  };
  const voidOf = ({ requestId }: { requestId: string }) => ({
    requestId: uuidv7(),
    authorizationRequestId: requestId,
  });
  const entriesOf = async (authorizationRequestId: string) =>
    (await fixture.client.listEntries({ authorizationRequestId })).entries;
  const sums = async (requestId: string) => {
    const own = (await entriesOf(requestId)).find((entry) => entry.requestId === requestId) ?? assert.fail();
    return [own.captured, own.voided];
  };

  it('is listed with the one before, of which it is no part', async () => {
    const { hold, renewal, result } = await renewed();
    assert.equal(result?.answer, Answer.APPROVED);
    const [entry, ...more] = await entriesOf(renewal.requestId);
    assert.deepEqual([entry?.kind, entry?.authorizationRequestId], [EntryKind.AUTHORIZATION, hold.requestId]);
    assert.deepEqual([entry?.terminalId, entry?.userId, entry?.tokenId], ['till-1', 'user-1', 'tok_sandbox_ok']);
    assert.deepEqual(more, []);
    const before = await entriesOf(hold.requestId);
    assert.deepEqual(
      before.map(({ requestId, authorizationRequestId }) => [requestId, authorizationRequestId]),
      [[hold.requestId, '']],
    );
  });

  it('leaves the one before, which is captured until it is voided; then the new one is', async () => {
    const { hold, renewal } = await renewed();
    assert.equal((await fixture.client.capture(captureRequest(hold, 700n))).result?.answer, Answer.APPROVED);
    const voided = await fixture.client.void(voidOf(hold));
    assert.equal(voided.result?.amountReleased, 9_300n);
    const late = await fixture.client.capture(captureRequest(hold, 1n));
    assert.equal(late.result?.errorCode, 'amount_exceeds_authorization');
    assert.deepEqual(await sums(renewal.requestId), [0n, 0n]);
    assert.equal((await fixture.client.capture(captureRequest(renewal))).result?.answer, Answer.APPROVED);
    assert.deepEqual(await sums(hold.requestId), [700n, 9_300n]);
  });

  it('is voided without the one before', async () => {
    const { hold, renewal } = await renewed();
    assert.equal((await fixture.client.void(voidOf(renewal))).result?.amountReleased, 10_000n);
    assert.equal((await fixture.client.capture(captureRequest(hold))).result?.answer, Answer.APPROVED);
  });

  it('may renew one that the ledger has lost, and be renewed', async () => {
    const first = { ...holdRequest(), renews: uuidv7() };
    const second = renewalOf(first);
    for (const renewal of [first, second]) {
      assert.equal((await fixture.client.authorize(renewal)).result?.answer, Answer.APPROVED);
      assert.equal((await entriesOf(renewal.requestId))[0]?.authorizationRequestId, renewal.renews);
    }
  });

  it('is repeated, also after a restart, and with nothing else that it renews', async () => {
    const { hold, renewal, result } = await renewed();
    await fixture.restart();
    assert.deepEqual((await fixture.client.authorize(renewal)).result, result);
    const { requestId } = await fixture.placed();
    for (const renews of [requestId, '']) {
      const other = await fixture.client.authorize({ ...renewal, renews });
      assert.equal(other.result?.errorCode, 'identifier_reused');
    }
    const placed = await fixture.client.authorize({ ...hold, renews: requestId });
    assert.equal(placed.result?.errorCode, 'identifier_reused');
  });

  it('names an identifier, or is refused', async () => {
    const bad = { ...holdRequest(), renews: 'the-hold-before' };
    await assert.rejects(fixture.client.authorize(bad), { code: status.INVALID_ARGUMENT });
    assert.equal(
      fixture.oracle((ledger) => ledger.find(bad.requestId)),
      undefined,
    );
  });

  const refusals: Array<[token: string, answer: Answer, errorCode: string]> = [
    ['tok_sandbox_renewal_declined', Answer.DECLINED, 'renewal_declined'],
    ['tok_sandbox_renewal_error', Answer.NOT_PERFORMED, 'renewal_error'],
  ];
  for (const [tokenId, answer, errorCode] of refusals) {
    it(`is refused with ${tokenId}, and the one before stays`, async () => {
      const { hold, result } = await renewed(tokenId);
      assert.deepEqual([result?.answer, result?.errorCode], [answer, errorCode]);
      assert.equal((await fixture.client.capture(captureRequest(hold))).result?.answer, Answer.APPROVED);
    });
  }

  const later: Array<[token: string, answer: Answer, errorCode: string]> = [
    ['tok_sandbox_renewal_accepted', Answer.APPROVED, ''],
    ['tok_sandbox_renewal_accepted_declined', Answer.DECLINED, 'renewal_declined'],
  ];
  for (const [tokenId, answer, errorCode] of later) {
    it(`ends two seconds later with ${tokenId}`, async () => {
      const { renewal, result } = await renewed(tokenId);
      assert.equal(result?.answer, Answer.ACCEPTED);
      const heard = fixture.core.next();
      fixture.clock.advance(2_000);
      await fixture.sandbox.reportDue();
      const { event } = await heard;
      assert(event.case === 'operationSettled');
      assert.equal(event.value.requestId, renewal.requestId);
      assert.deepEqual([event.value.result?.answer, event.value.result?.errorCode], [answer, errorCode]);
      assert.deepEqual((await fixture.client.authorize(renewal)).result, event.value.result);
    });
  }

  it('is done, and its answer lost, with tok_sandbox_renewal_timeout_applied', async () => {
    const renewal = renewalOf(await fixture.placed('tok_sandbox_renewal_timeout_applied'));
    await fixture.lose(renewal.requestId, (options) => fixture.client.authorize(renewal, options));
    const found = await fixture.client.inquire({ requestId: renewal.requestId, fence: true });
    assert.deepEqual([found.finding, found.result?.answer], [Finding.DONE, Answer.APPROVED]);
  });

  it('is never done with tok_sandbox_renewal_timeout_lost', async () => {
    const renewal = renewalOf(await fixture.placed('tok_sandbox_renewal_timeout_lost'));
    const call = fixture.client.authorize(renewal, { timeoutMs: 200 });
    await assert.rejects(call, { code: status.DEADLINE_EXCEEDED });
    const found = await fixture.client.inquire({ requestId: renewal.requestId, fence: true });
    assert.deepEqual([found.finding, found.fenced], [Finding.NEVER_SEEN, true]);
  });

  it('comes before the guarantee of two seconds is over', async () => {
    for (const tokenId of ['tok_sandbox_renewal_declined', 'tok_sandbox_guarantee_short']) {
      const { result } = await fixture.client.authorize(holdRequest(tokenId));
      assert(result?.guaranteedUntil && result.expiresAt);
      assert.equal(timestampMs(result.guaranteedUntil), fixture.clock.now() + 2_000);
      assert(timestampMs(result.expiresAt) > timestampMs(result.guaranteedUntil));
    }
  });
});
