import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { OperationKind } from '../../../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { forSuite } from '../../../../suite.ts';
import { approved, declined } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant, sql } from '../../shop.ts';
import { refusal, why } from '../../stage.ts';

const { OK, KO } = OperationState;
const reason = 'The processor showed us its books.';

describe('correctOperation()', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'told', { webhookUrl: 'https://merchant.example' }));
  const sole = forSuite(() => openMerchant(scripted.stage, 'sole', { allowMultipleCaptures: false }));
  const operators = forSuite(() => scripted.stage.client('operator', OperatorService));
  afterEach(async () => assert.deepEqual(await scripted.stage.audit('own books'), []));

  const correct = (requestId: string, outcome: OperationState) =>
    operators.correctOperation({ requestId, outcome, reason });
  const resultOf = async (requestId: string) => {
    const { operation } = await shop.operations.getOperation({ merchantId: 'told', requestId });
    return `${OperationState[operation?.state ?? 0]} ${operation?.statusInfo} ${operation?.processorError?.code ?? ''}`;
  };
  /** A hold of 10000, and a capture of it that was declined. */
  const refused = async (amount = 4_000n, fields: object = {}) => {
    const hold = await shop.hold();
    processor.says.capture = () => declined;
    const { metadata } = await refusal(shop.capture(hold, amount, fields));
    scripted.approveAll();
    return { hold, requestId: metadata.requestId ?? assert.fail() };
  };

  it('of a capture that was done after all moves the books, notifies, and unfreezes the hold', async () => {
    const { hold, requestId } = await refused();
    await scripted.settled(requestId, approved);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
    const { operation, frozen } = await correct(requestId, OK);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/0');
    assert.deepEqual(
      [operation?.kind, operation?.state, operation?.amount, operation?.correctsRequestId, frozen],
      [OperationKind.CORRECTION, OK, 4_000n, requestId, false],
    );
    const told = (await scripted.notificationsOf(hold)).at(-1) ?? assert.fail();
    assert.deepEqual(
      [told.word, told.body.status, told.body.amount, told.body.correctsRequestId, told.body.operation],
      ['corrected', 'OK', 4_000, requestId, 'CORRECTION'],
    );
    assert.deepEqual(await shop.results(hold), ['authorized', 'declined 4000', 'corrected 4000']);
    assert.equal(await resultOf(requestId), 'OK captured ');
    const [capture] = (await shop.get(hold)).captures;
    assert.deepEqual([capture?.state, capture?.amountCaptured, capture?.processorError], [OK, 4_000n, undefined]);
    // What says the same now contradicts nothing.
    await scripted.settled(requestId, approved);
    assert.equal((await shop.refund({ requestId }, 4_000n)).refund?.state, OK);
  });

  /** A hold of 10000, and an increment of 1000 that was told as done: voids give 10000 back. */
  const incremented = async () => {
    const hold = await shop.hold();
    const added = await shop.increment(hold, 1_000n);
    processor.says.void = () => ({ ...approved, amountReleased: 10_000n });
    return { hold, requestId: added.requestId };
  };

  it('of an increment that was not done ends a hold that expired meanwhile, and tells that it has expired', async () => {
    const { hold, requestId } = await incremented();
    const now = new Date(scripted.stage.clock.now());
    await sql(scripted.stage, 'update hold set expires_at = $2 where request_id = $1', [hold.requestId, now]);
    await scripted.stage.expire();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/1000/10000/0 frozen');
    await correct(requestId, KO);
    assert.deepEqual(await scripted.stage.audit('own books'), []);
    await scripted.stage.expire();
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    const told = (await scripted.notificationsOf(hold)).map(({ word, body }) => `${word} ${body.amount}`);
    assert.deepEqual(told.slice(-2), ['corrected 1000', 'expired 10000']);
  });

  it('of a capture that was done after all lets a hold end whose expiry gave back less, and tells that', async () => {
    const { hold, requestId } = await refused();
    processor.says.void = () => ({ ...approved, amountReleased: 6_000n });
    const now = new Date(scripted.stage.clock.now());
    await sql(scripted.stage, 'update hold set expires_at = $2 where request_id = $1', [hold.requestId, now]);
    await scripted.stage.expire();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/4000/6000/0 frozen');
    await correct(requestId, OK);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/0/6000/0');
    assert.deepEqual(await scripted.stage.audit('own books'), []);
    await scripted.stage.expire();
    assert.equal(await shop.books(hold), 'CAPTURED 4000/0/0/6000/0 EXPIRED');
    assert.deepEqual((await shop.results(hold)).slice(-2), ['corrected 4000', 'expired 6000']);
  });

  const openAbout = async (requestId: string) =>
    (await operators.listContradictions({ requestId })).contradictions.filter(({ resolvedAt }) => !resolvedAt);

  it('of a refund books what came back of it before, and tells that, once', async () => {
    const capture = await shop.captured(10_000n);
    processor.says.refund = () => declined;
    const { metadata } = await refusal(shop.refund(capture, 4_000n));
    scripted.approveAll();
    const requestId = metadata.requestId ?? assert.fail();
    const event = {
      case: 'refundReturned',
      value: { refundRequestId: requestId, amount: 1_000n, reference: 'ret' },
    } as const;
    await scripted.report(event, 'returned-before');
    await correct(requestId, OK);
    const hold = { requestId: capture.holdRequestId };
    assert.equal(await shop.books(hold), 'CAPTURED 10000/0/0/0/0 refunded 3000');
    const results = ['corrected 4000', 'refund_returned 1000'];
    assert.deepEqual((await shop.results(hold)).slice(-2), results);
    assert.deepEqual(await openAbout(requestId), []);
    await scripted.report(event, 'returned-before');
    assert.deepEqual((await shop.results(hold)).slice(-2), results);
    assert.equal((await shop.getRefund(requestId)).refund?.amountReturned, 1_000n);
  });

  it('of an OCT and of a capture books what came back of them before', async () => {
    processor.says.credit = () => declined;
    const { metadata } = await refusal(shop.oct());
    const creditRequestId = metadata.requestId ?? assert.fail();
    scripted.approveAll();
    await scripted.report({ case: 'creditReturned', value: { creditRequestId, amount: 700n, reference: '' } });
    await correct(creditRequestId, OK);
    const { operations } = await shop.operations.listOperations({ merchantId: 'told', kind: OperationKind.OCT_RETURN });
    assert.deepEqual(
      operations.map(({ amount, octRequestId }) => [amount, octRequestId]),
      [[700n, creditRequestId]],
    );
    const { hold, requestId } = await refused();
    const value = { captureRequestId: requestId, amount: 500n, reference: '' };
    await scripted.report({ case: 'captureReversed', value: { ...value, authorizationRequestId: '' } });
    await correct(requestId, OK);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/500');
    assert.deepEqual((await shop.results(hold)).slice(-2), ['corrected 4000', 'reversed 500']);
    assert.deepEqual(await openAbout(requestId), []);
  });

  it('leaves to an operator what came back beyond the amount', async () => {
    const { requestId } = await refused();
    const value = { captureRequestId: requestId, amount: 4_001n, reference: '' };
    await scripted.report({ case: 'captureReversed', value: { ...value, authorizationRequestId: '' } });
    await correct(requestId, OK);
    assert.equal((await openAbout(requestId)).length, 1);
    await operators.acknowledgeContradictions({ requestId, reason });
    assert.deepEqual(await openAbout(requestId), []);
  });

  it('of an increment that was not done leaves a hold released that was released meanwhile', async () => {
    const { hold, requestId } = await incremented();
    await shop.release(hold);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/1000/10000/0 frozen');
    await correct(requestId, KO);
    assert.equal(await shop.books(hold), 'RELEASED 0/0/0/10000/0 RELEASED');
    await scripted.stage.expire();
    const told = (await scripted.notificationsOf(hold)).map(({ word, body }) => `${word} ${body.amount}`);
    assert.deepEqual(told.slice(-2), ['released 10000', 'corrected 1000']);
  });

  it('resolves what contradicted the operation, of a hold and of an OCT', async () => {
    const { hold, requestId } = await refused();
    await scripted.settled(requestId, approved);
    processor.says.credit = () => declined;
    const { metadata } = await refusal(shop.oct());
    const oct = metadata.requestId ?? assert.fail();
    await scripted.settled(oct, approved);
    for (const id of [requestId, oct]) await correct(id, OK);
    for (const id of [hold.requestId, oct]) {
      const { contradictions } = await operators.listContradictions({ requestId: id });
      assert.deepEqual(
        contradictions.map(({ resolution, resolvedAt }) => [resolution, resolvedAt !== undefined]),
        [['corrected', true]],
      );
    }
    assert.equal((await shop.get(hold)).frozenBecause, 0);
    const { items } = await operators.listReviewItems({ merchantId: 'told', pageSize: 100 });
    assert.deepEqual(
      items.filter((item) => [requestId, hold.requestId, oct].includes(item.requestId)),
      [],
    );
  });

  it('of a capture that was not done gives its amount back to the hold, open or closed', async () => {
    const open = await shop.hold();
    const first = (await shop.capture(open, 4_000n)).capture?.requestId ?? '';
    await scripted.settled(first, declined);
    await correct(first, KO);
    assert.equal(await shop.books(open), 'IN_PROGRESS 0/0/10000/0/0');
    assert.equal(await resultOf(first), 'KO failed ');
    await shop.capture(open, 10_000n);
    const closed = await shop.hold();
    const final = (await shop.capture(closed, 4_000n, { finalCapture: true })).capture?.requestId ?? '';
    await correct(final, KO);
    assert.equal(await shop.books(closed), 'RELEASED 0/0/0/10000/0 FINAL');
    assert.equal(await why(shop.capture(closed, 1n)), 'HOLD_RELEASED');
    await correct(final, OK);
    assert.equal(await shop.books(closed), 'CAPTURED 4000/0/0/6000/0 FINAL');
    assert.equal(await resultOf(final), 'OK captured ');
  });

  it('closes a hold by its sole capture', async () => {
    const hold = await sole.hold();
    processor.says.capture = () => declined;
    const { metadata } = await refusal(sole.capture(hold, 4_000n));
    await correct(metadata.requestId ?? '', OK);
    assert.equal(await sole.books(hold), 'CAPTURED 4000/0/0/6000/0 FINAL');
  });

  it('is refused when the hold has no room for the capture, or what followed is in the way', async () => {
    const { hold, requestId } = await refused(8_000n);
    await shop.capture(hold, 3_000n);
    const { reason: code, metadata } = await refusal(correct(requestId, OK));
    assert.deepEqual([code, metadata.amountRemaining], ['AMOUNT_EXCEEDS_HOLD', '7000']);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 3000/0/7000/0/0');
    processor.says.capture = () => undefined;
    const { capture: lost } = await shop.capture(hold, 1_000n);
    assert.equal(await why(correct(lost?.requestId ?? '', KO)), 'OPERATION_NOT_FINAL');
    await scripted.settled(lost?.requestId ?? '', approved);
    await shop.refund({ requestId: lost?.requestId ?? '' }, 1n);
    assert.equal(await why(correct(lost?.requestId ?? '', KO)), 'NOT_CORRECTABLE');
    const of = { authorizationRequestId: hold.requestId, amount: 3_000n, reference: '' };
    await scripted.report({ case: 'captureReversed', value: of });
    const { captures } = await shop.get(hold);
    const other = captures.find(({ amount }) => amount === 3_000n)?.requestId ?? '';
    assert.equal(await why(correct(other, KO)), 'NOT_CORRECTABLE');
    assert.equal(await why(correct(other, OK)), 'OUTCOME_UNCHANGED');
    assert.equal(await why(correct(hold.requestId, KO)), 'NOT_CORRECTABLE');
    assert.equal(await why(correct(uuidv7(), KO)), 'OPERATION_NOT_FOUND');
    const { requestId: released = '' } = await shop.release(hold);
    assert.equal(await why(correct(released, KO)), 'NOT_CORRECTABLE');
  });

  it('of a refund moves what is refunded, beside what came back of it', async () => {
    const capture = await shop.captured(10_000n);
    const books = () => shop.books({ requestId: capture.holdRequestId });
    processor.says.refund = () => declined;
    const { metadata } = await refusal(shop.refund(capture, 4_000n));
    scripted.approveAll();
    const requestId = metadata.requestId ?? '';
    await correct(requestId, OK);
    assert.equal(await books(), 'CAPTURED 10000/0/0/0/0 refunded 4000');
    const value = { refundRequestId: requestId, amount: 1_000n, reference: '' };
    await scripted.report({ case: 'refundReturned', value });
    await shop.refund(capture, 6_500n);
    const { operation } = await correct(requestId, KO);
    assert.deepEqual([operation?.amount, operation?.captureRequestId], [3_000n, capture.requestId]);
    assert.equal(await books(), 'CAPTURED 10000/0/0/0/0 refunded 6500');
    await shop.refund(capture, 1_000n);
    assert.equal(await why(correct(requestId, OK)), 'AMOUNT_EXCEEDS_CAPTURE');
    const { refund } = await shop.getRefund(requestId);
    assert.deepEqual([refund?.state, refund?.amountReturned], [KO, 1_000n]);
  });

  it('of an increment changes the amount of the hold', async () => {
    const hold = await shop.hold();
    const { requestId } = await shop.increment(hold, 500n);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10500/0/0');
    await correct(requestId, KO);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    await correct(requestId, OK);
    await shop.capture(hold, 10_200n);
    assert.equal(await why(correct(requestId, KO)), 'NOT_CORRECTABLE');
  });

  it('of an OCT notifies as an OCT', async () => {
    processor.says.credit = () => declined;
    const { metadata } = await refusal(shop.oct());
    const requestId = metadata.requestId ?? '';
    await scripted.settled(requestId, approved);
    await Promise.allSettled(Array.from({ length: 3 }, () => correct(requestId, OK)));
    const { oct } = await shop.getOct(requestId);
    assert.deepEqual([oct?.state, oct?.processorError], [OK, undefined]);
    await correct(requestId, KO);
    assert.equal((await shop.getOct(requestId)).oct?.state, KO);
    const text = `select d.kind, d.status_info as word, convert_from(d.body, 'UTF8')::json->>'status' as status
      from operation o join delivery d on d.request_id = o.request_id::text
      where o.corrects_request_id = $1 order by o.sequence`;
    assert.deepEqual(await sql(scripted.stage, text, [requestId]), [
      { kind: 'oct', word: 'corrected', status: 'OK' },
      { kind: 'oct', word: 'corrected', status: 'KO' },
    ]);
  });

  it('is found by the audit when the result is not that of the last correction', async () => {
    const requestId = (await shop.oct()).oct?.requestId ?? '';
    await correct(requestId, KO);
    const set = (state: string) =>
      sql(scripted.stage, 'update submission set state = $2 where request_id = $1', [requestId, state]);
    await set('OK');
    const kinds = (await scripted.stage.audit('own books')).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['CORRECTIONS_DIFFER']);
    await set('KO');
  });

  it('changes no earlier answer', async () => {
    const key = { idempotencyKey: 'corrected-later' };
    const { hold, requestId } = await refused(4_000n, key);
    await correct(requestId, OK);
    assert.equal(await why(shop.capture(hold, 4_000n, key)), 'CARD_DECLINED');
    const other = { idempotencyKey: 'corrected-too' };
    const first = await shop.capture(hold, 1_000n, other);
    await correct(first.capture?.requestId ?? '', KO);
    assert.deepEqual((await shop.capture(hold, 1_000n, other)).capture, first.capture);
  });
});
