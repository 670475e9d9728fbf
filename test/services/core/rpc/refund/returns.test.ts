/** Refunds and OCTs that come back from the bank after they were OK. */
import assert from 'node:assert/strict';
import { OperationKind } from '../../../../../proto/gen/holdfast/v1/operation_pb.js';
import { ContradictionKind, OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { forSuite } from '../../../../suite.ts';
import { approved, declined } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, refusal, why } from '../../stage.ts';

describe('a return', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'told', { webhookUrl: 'https://merchant.example' }));
  afterEach(async () => assert.deepEqual(await scripted.stage.audit('own books'), []));

  const booksOf = ({ holdRequestId: requestId }: { holdRequestId: string }) => shop.books({ requestId });
  const refundReturned = (refundRequestId: string, amount: bigint, eventId?: string) =>
    scripted.report({ case: 'refundReturned', value: { refundRequestId, amount, reference: 'ret-1' } }, eventId);
  const creditReturned = (creditRequestId: string, amount: bigint, eventId?: string) =>
    scripted.report({ case: 'creditReturned', value: { creditRequestId, amount, reference: 'ret-1' } }, eventId);
  /** A capture of 10000 of which 4000 were refunded. */
  const refunded = async (fields: object = {}) => {
    const capture = await shop.captured(10_000n);
    const { refund } = await shop.refund(capture, 4_000n, fields);
    return { capture, requestId: refund?.requestId ?? assert.fail() };
  };
  const paid = async (fields: object = {}) => (await shop.oct(fields)).oct?.requestId ?? assert.fail();
  const sentAs = (name: string) => processor.heard.findLast(({ method }) => method === name)?.requestId ?? '';
  const returnedOf = async (requestId: string) => {
    const { refund } = await shop.getRefund(requestId);
    return [OperationState[refund?.state ?? 0], refund?.amountRefunded, refund?.amountReturned];
  };

  it('of a refund lets it be refunded again, and is an operation with a notification', async () => {
    const { capture, requestId } = await refunded();
    assert.equal(await booksOf(capture), 'CAPTURED 10000/0/0/0/0 refunded 4000');
    await refundReturned(requestId, 4_000n);
    assert.equal(await booksOf(capture), 'CAPTURED 10000/0/0/0/0');
    assert.deepEqual(await returnedOf(requestId), ['OK', 4_000n, 4_000n]);
    assert.equal((await shop.get({ requestId: capture.holdRequestId })).captures[0]?.amountRefunded, 0n);
    assert.equal((await shop.refund(capture)).refund?.amount, 10_000n);
    const results = await shop.results({ requestId: capture.holdRequestId });
    assert.deepEqual(results.slice(2), ['refunded 4000', 'refund_returned 4000', 'refunded 10000']);
    const { operations } = await shop.operations.listOperations({
      merchantId: 'told',
      kind: OperationKind.REFUND_RETURN,
    });
    const operation = operations.find((each) => each.refundRequestId === requestId);
    assert.deepEqual(
      [operation?.state, operation?.captureRequestId, operation?.holdRequestId, operation?.processorReference],
      [OperationState.KO, capture.requestId, capture.holdRequestId, 'ret-1'],
    );
    const told = await scripted.notificationsOf({ requestId: capture.holdRequestId });
    const { word, body } = told.find((each) => each.word === 'refund_returned') ?? assert.fail();
    assert.deepEqual(
      [word, body.status, body.operation, body.amount, body.reference, body.refundRequestId, body.captureRequestId],
      ['refund_returned', 'KO', 'REFUND_RETURN', 4_000, 'ret-1', requestId, capture.requestId],
    );
    assert.equal(body.holdRequestId, capture.holdRequestId);
  });

  it('of a refund may come in parts, each booked once for its event', async () => {
    const { capture, requestId } = await refunded();
    await Promise.all(Array.from({ length: 4 }, () => refundReturned(requestId, 1_000n, 'part 1')));
    await refundReturned(requestId, 1_000n, 'part 1');
    assert.deepEqual(await returnedOf(requestId), ['OK', 4_000n, 1_000n]);
    assert.equal(await why(shop.refund(capture, 7_001n)), 'AMOUNT_EXCEEDS_CAPTURE');
    await Promise.all(Array.from({ length: 3 }, () => refundReturned(requestId, 1_000n)));
    assert.deepEqual(await returnedOf(requestId), ['OK', 4_000n, 4_000n]);
    assert.equal(await booksOf(capture), 'CAPTURED 10000/0/0/0/0');
  });

  it('of more than is left is rejected, and listed for an operator', async () => {
    const { capture, requestId } = await refunded();
    await refundReturned(requestId, 3_000n);
    assert.equal(await why(refundReturned(requestId, 1_001n)), 'INVALID_REQUEST');
    assert.equal(await booksOf(capture), 'CAPTURED 10000/0/0/0/0 refunded 1000');
    const operators = scripted.stage.client('operator', OperatorService);
    const { contradictions } = await operators.listContradictions({ requestId });
    assert.deepEqual(
      contradictions.map(({ kind, toldAmount }) => [kind, toldAmount]),
      [[ContradictionKind.EVENT_REFUSED, 1_001n]],
    );
  });

  it('waits for the result, and contradicts a refund or an OCT that is KO', async () => {
    const capture = await shop.captured(10_000n);
    processor.says.refund = () => undefined;
    processor.says.credit = () => undefined;
    const { refund } = await shop.refund(capture, 4_000n);
    const oct = await paid();
    const requestId = refund?.requestId ?? '';
    assert.equal(await why(refundReturned(requestId, 4_000n)), 'UNAVAILABLE');
    assert.equal(await why(creditReturned(oct, 700n)), 'UNAVAILABLE');
    await scripted.settled(requestId, declined);
    await scripted.settled(oct, declined);
    await refundReturned(requestId, 4_000n);
    await creditReturned(oct, 700n);
    assert.equal(await booksOf(capture), 'CAPTURED 10000/0/0/0/0 frozen');
    assert.equal((await shop.getOct(oct)).oct?.amountReturned, 0n);
  });

  it('names a refund or an OCT, and nothing else', async () => {
    const { capture, requestId } = await refunded();
    assert.equal(await why(refundReturned(capture.requestId, 1n)), 'OPERATION_NOT_FOUND');
    assert.equal(await why(creditReturned(requestId, 1n)), 'OPERATION_NOT_FOUND');
    assert.equal(await why(refundReturned(await paid(), 1n)), 'OPERATION_NOT_FOUND');
  });

  it('may be told as a result that it was not done: all that is left came back, once', async () => {
    const { capture, requestId } = await refunded();
    await refundReturned(requestId, 1_000n);
    const failed = { ...declined, errorCode: 'account_closed', errorMessage: 'The account is closed.' };
    await Promise.all(Array.from({ length: 3 }, () => scripted.settled(requestId, failed, 'not done')));
    await scripted.settled(requestId, failed, 'not done, again');
    assert.equal(await booksOf(capture), 'CAPTURED 10000/0/0/0/0');
    assert.deepEqual(await returnedOf(requestId), ['OK', 4_000n, 4_000n]);
    const { operations } = await shop.operations.listOperations({
      merchantId: 'told',
      holdRequestId: capture.holdRequestId,
    });
    const returns = operations.filter((each) => each.refundRequestId !== '');
    assert.deepEqual(
      returns.map(({ amount, processorError }) => [amount, processorError?.code]),
      [
        [3_000n, 'account_closed'],
        [1_000n, undefined],
      ],
    );
    const oct = await paid();
    await scripted.settled(oct, declined);
    assert.equal((await shop.getOct(oct)).oct?.amountReturned, 700n);
    await scripted.settled(oct, approved);
    assert.equal((await shop.getOct(oct)).oct?.state, OperationState.OK);
  });

  it('of an OCT is an operation with a notification, in parts as well', async () => {
    const requestId = await paid();
    await Promise.all(Array.from({ length: 3 }, () => creditReturned(requestId, 300n, `of ${requestId}`)));
    await creditReturned(requestId, 400n);
    const { oct } = await shop.getOct(requestId);
    assert.deepEqual([oct?.state, oct?.amountReturned], [OperationState.OK, 700n]);
    const { reason } = await refusal(creditReturned(requestId, 1n));
    assert.equal(reason, 'INVALID_REQUEST');
    const text = `select d.status_info as word, d.kind, convert_from(d.body, 'UTF8')::json as body from operation o
      join delivery d on d.request_id = o.request_id::text where o.oct_request_id = $1 order by o.sequence`;
    const told = await sql<{ word: string; kind: string; body: Record<string, unknown> }>(scripted.stage, text, [
      requestId,
    ]);
    assert.deepEqual(
      told.map(({ word, kind, body }) => [word, kind, body.status, body.amount, body.octRequestId]),
      [
        ['returned', 'oct', 'KO', 300, requestId],
        ['returned', 'oct', 'KO', 400, requestId],
      ],
    );
    const { operations } = await shop.operations.listOperations({ merchantId: 'told', kind: OperationKind.OCT_RETURN });
    assert.deepEqual(
      operations.slice(0, 2).map(({ amount, octRequestId, userId }) => [amount, octRequestId, userId]),
      [
        [400n, requestId, 'u1'],
        [300n, requestId, 'u1'],
      ],
    );
  });

  it('changes no earlier answer', async () => {
    const { capture, requestId } = await refunded({ idempotencyKey: 'refund-returned' });
    const first = await shop.getRefund(requestId);
    await refundReturned(sentAs('refund'), 4_000n);
    const { refund } = await shop.refund(capture, 4_000n, { idempotencyKey: 'refund-returned' });
    assert.deepEqual(refund, first.refund);
    const oct = await paid({ idempotencyKey: 'oct-returned' });
    const paidFirst = await shop.getOct(oct);
    await creditReturned(sentAs('credit'), 700n);
    assert.equal((await shop.getOct(oct)).oct?.amountReturned, 700n);
    assert.deepEqual((await shop.oct({ idempotencyKey: 'oct-returned' })).oct, paidFirst.oct);
  });

  it('agrees with the sandbox', async () => {
    const stage = await openStage();
    const acme = await openMerchant(stage, 'acme');
    for (const [behaviour, left] of [
      ['refund_returned', 0n],
      ['refund_returned_in_part', 2_000n],
    ] as const) {
      const capture = await acme.captured(10_000n, { tokenId: `tok_sandbox_${behaviour}` });
      await acme.refund(capture, 4_000n);
      stage.clock.advance(2_000);
      await stage.sandbox.reportDue();
      assert.equal((await acme.get({ requestId: capture.holdRequestId })).amountRefunded, left);
    }
    const { oct } = await acme.oct({ tokenId: 'tok_sandbox_oct_returned_in_part' });
    const capture = await acme.captured(10_000n, { tokenId: 'tok_sandbox_reversed' });
    await acme.refund(capture, 4_000n);
    stage.clock.advance(2_000);
    await stage.sandbox.reportDue();
    assert.equal((await acme.getOct(oct?.requestId ?? '')).oct?.amountReturned, 350n);
    assert.equal(await acme.books({ requestId: capture.holdRequestId }), 'CAPTURED 10000/0/0/0/10000 refunded 4000');
    assert.deepEqual(await stage.audit(), []);
    await stage.close();
  });
});
