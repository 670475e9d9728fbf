import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { captureRequest, holdRequest, startFixture } from '../fixture.ts';

describe('capture()', () => {
  const fixture = forSuite(startFixture);

  const sums = (requestId: string) =>
    fixture.oracle((ledger) => {
      const { captured, voided, reversed } = ledger.find(requestId) ?? assert.fail();
      return { captured, voided, reversed };
    });

  it('charges parts up to the whole, each with a bank reference, and nothing above', async () => {
    const hold = await fixture.placed();
    for (const amount of [4_000n, 6_000n]) {
      const { result } = await fixture.client.capture(captureRequest(hold, amount));
      assert.equal(result?.answer, Answer.APPROVED);
      assert.match(result.bankReference, /^BNK/);
    }
    const { result } = await fixture.client.capture(captureRequest(hold, 1n));
    assert.equal(result?.answer, Answer.NOT_PERFORMED);
    assert.equal(result.errorCode, 'amount_exceeds_authorization');
    assert.deepEqual(sums(hold.requestId), { captured: 10_000, voided: 0, reversed: 0 });
  });

  it('never exceeds the authorization when 64 captures arrive at once', async () => {
    const hold = await fixture.placed();
    const calls = Array.from({ length: 64 }, () => fixture.client.capture(captureRequest(hold, 300n)));
    const approved = (await Promise.all(calls)).filter(({ result }) => result?.answer === Answer.APPROVED);
    assert.equal(approved.length, 33);
    assert.equal(sums(hold.requestId).captured, 9_900);
  });

  it('releases the rest with a final capture', async () => {
    const hold = await fixture.placed();
    await fixture.client.capture({ ...captureRequest(hold, 2_500n), finalCapture: true });
    assert.deepEqual(sums(hold.requestId), { captured: 2_500, voided: 7_500, reversed: 0 });
    const { result } = await fixture.client.capture(captureRequest(hold, 1n));
    assert.equal(result?.errorCode, 'amount_exceeds_authorization');
  });

  it('requires the token, merchantId, terminalId, userId and currency of the hold', async () => {
    const hold = await fixture.placed();
    const others = [
      { tokenId: 'tok_sandbox_slow' },
      { tokenId: '' },
      { merchantId: 'other' },
      { terminalId: 'till-2' },
      { userId: 'user-2' },
      { currency: 'USD' },
    ];
    for (const other of others) {
      const { result } = await fixture.client.capture({ ...captureRequest(hold), ...other });
      assert.equal(result?.answer, Answer.NOT_PERFORMED);
      assert.equal(result.errorCode, 'authorization_mismatch');
    }
    assert.equal(sums(hold.requestId).captured, 0);
  });

  it('rejects an authorization that was refused or never made', async () => {
    const declined = holdRequest('tok_sandbox_declined');
    await fixture.client.authorize(declined);
    for (const hold of [declined, holdRequest()]) {
      const { result } = await fixture.client.capture(captureRequest(hold));
      assert.equal(result?.errorCode, 'authorization_not_found');
    }
  });

  it('declines, or fails, without charging for the tokens that say so', async () => {
    const cases = [
      ['tok_sandbox_capture_declined', Answer.DECLINED, 'capture_declined'],
      ['tok_sandbox_capture_error', Answer.NOT_PERFORMED, 'capture_error'],
    ] as const;
    for (const [tokenId, answer, errorCode] of cases) {
      const hold = await fixture.placed(tokenId);
      const { result } = await fixture.client.capture({ ...captureRequest(hold), finalCapture: true });
      assert.equal(result?.answer, answer);
      assert.equal(result.errorCode, errorCode);
      assert.deepEqual(sums(hold.requestId), { captured: 0, voided: 0, reversed: 0 });
    }
  });

  it('charges without answering for tok_sandbox_capture_timeout_applied; an inquiry returns the result', async () => {
    const hold = await fixture.placed('tok_sandbox_capture_timeout_applied');
    const capture = captureRequest(hold, 700n);
    await fixture.lose(capture.requestId, (options) => fixture.client.capture(capture, options));
    assert.equal(sums(hold.requestId).captured, 700);
    const { result } = await fixture.client.capture(capture);
    assert.equal(result?.answer, Answer.APPROVED);
    assert.equal(sums(hold.requestId).captured, 700);
  });

  it('neither charges nor answers for tok_sandbox_capture_timeout_lost', async () => {
    const hold = await fixture.placed('tok_sandbox_capture_timeout_lost');
    const capture = captureRequest(hold, 700n);
    await assert.rejects(fixture.client.capture(capture, { timeoutMs: 100 }), { code: status.DEADLINE_EXCEEDED });
    assert.equal(
      fixture.oracle((ledger) => ledger.find(capture.requestId)),
      undefined,
    );
    assert.equal(sums(hold.requestId).captured, 0);
  });

  it('ends an unanswered call after a minute', async () => {
    const hold = await fixture.placed('tok_sandbox_capture_timeout_applied');
    const capture = captureRequest(hold, 700n);
    const call = assert.rejects(fixture.client.capture(capture), { code: status.UNAVAILABLE });
    while (!fixture.oracle((ledger) => ledger.find(capture.requestId))) await new Promise(setImmediate);
    fixture.clock.advance(60_000);
    await call;
  });

  it('is reversed two seconds later for tok_sandbox_reversed, and core is notified', async () => {
    const hold = await fixture.placed('tok_sandbox_reversed');
    const capture = captureRequest(hold, 700n);
    const { result } = await fixture.client.capture(capture);
    assert.equal(result?.answer, Answer.APPROVED);
    fixture.clock.advance(1_999);
    await fixture.sandbox.reportDue();
    assert.equal(fixture.core.received.length, 0);
    const heard = fixture.core.next();
    fixture.clock.advance(1);
    const { eventId, event } = await heard;
    assert.equal(eventId, `reversal-${capture.requestId}`);
    assert.ok(event.case === 'captureReversed');
    assert.equal(event.value.captureRequestId, capture.requestId);
    assert.equal(event.value.amount, 700n);
    assert.equal(event.value.reference, `${result.reference}_rev`);
    assert.deepEqual(sums(hold.requestId), { captured: 700, voided: 0, reversed: 700 });
    assert.equal(sums(capture.requestId).reversed, 700);
  });

  it('rejects another amount, final flag or authorization under a used identifier', async () => {
    const [hold, another] = [await fixture.placed(), await fixture.placed()];
    const capture = captureRequest(hold, 100n);
    await fixture.client.capture(capture);
    const others = [{ amount: 101n }, { finalCapture: true }, { authorizationRequestId: another.requestId }];
    for (const other of others) {
      const { result } = await fixture.client.capture({ ...capture, ...other });
      assert.equal(result?.errorCode, 'identifier_reused');
    }
  });
});
