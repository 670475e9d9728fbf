import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { Answer } from '../../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { startCore } from '../../../../../services/core/start/start-core.ts';
import { approved, atWork, declined } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { refusal } from '../../stage.ts';

describe('reportEvent()', () => {
  const { scripted, shop, processor } = useScriptedStage();

  /** A capture whose answer was lost. */
  const lostCapture = async () => {
    const hold = await shop.hold();
    processor.says.capture = () => undefined;
    const { capture } = await shop.capture(hold, 1_000n);
    assert.equal(capture?.state, OperationState.UNKNOWN);
    return { hold, requestId: capture.requestId };
  };

  it('accepts the same event again and again', async () => {
    const { hold, requestId } = await lostCapture();
    for (let count = 0; count < 3; count++) await scripted.settled(requestId, approved, 'again');
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 1000/0/9000/0/0');
    assert.equal(await scripted.countOf(requestId), 1);
  });

  it('rejects another event under a used identifier, without an effect', async () => {
    const first = await lostCapture();
    const second = await lostCapture();
    await scripted.settled(first.requestId, approved, 'used');
    const others = [
      scripted.settled(first.requestId, declined, 'used'),
      scripted.settled(first.requestId, { ...approved, reference: 'another' }, 'used'),
      scripted.settled(second.requestId, approved, 'used'),
    ];
    for (const other of others) {
      const { status, reason } = await refusal(other);
      assert.deepEqual([status, reason], ['INVALID_ARGUMENT', 'IDEMPOTENCY_KEY_REUSED']);
    }
    assert.equal(await shop.books(first.hold), 'PARTIALLY_CAPTURED 1000/0/9000/0/0');
    assert.equal(await scripted.stateOf(second.requestId), OperationState.UNKNOWN);
    await scripted.settled(second.requestId, approved, 'its own');
    assert.equal(await shop.books(second.hold), 'PARTIALLY_CAPTURED 1000/0/9000/0/0');
  });

  it('detects it when both arrive at once', async () => {
    const [one, two] = [await lostCapture(), await lostCapture()];
    const ends = await Promise.allSettled([
      scripted.settled(one.requestId, approved, 'at once'),
      scripted.settled(two.requestId, declined, 'at once'),
    ]);
    assert.deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });

  it('books nothing for an answer that is not final, and inquires about it later', async () => {
    const accepted = { answer: Answer.ACCEPTED };
    const hold = await shop.hold();
    processor.says.capture = () => accepted;
    const { capture } = await shop.capture(hold, 1_000n);
    assert.equal(capture?.state, OperationState.UNKNOWN);
    processor.says.inquire = () => ({ ...atWork, result: accepted });
    await scripted.inquireLater();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/1000/9000/0/0');
    assert.equal((await refusal(scripted.settled(capture.requestId, accepted))).status, 'INVALID_ARGUMENT');
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/1000/9000/0/0');
    await scripted.settled(capture.requestId, approved);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 1000/0/9000/0/0');
  });

  it('freezes a hold that somebody else has charged', async () => {
    const hold = await shop.hold();
    const { requestId: authorizationRequestId } = hold;
    const value = { authorizationRequestId, captureRequestId: uuidv7(), amount: 400n, reference: 'ch_1' };
    await scripted.report({ case: 'foreignCapture', value });
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
    const unknown = { ...value, authorizationRequestId: uuidv7() };
    assert.equal(
      (await refusal(scripted.report({ case: 'foreignCapture', value: unknown }))).reason,
      'OPERATION_NOT_FOUND',
    );
  });

  it('counts what it rejects', async () => {
    const { stage } = scripted;
    const { requestId } = await lostCapture();
    await scripted.settled(requestId, approved, 'counted');
    const core = await startCore({ ...stage.settings, CORE_PORT: 0, CONNECT_PORT: 0, CORE_METRICS_PORT: 0 });
    const url = `http://127.0.0.1:${core.connectPort}/holdfast.processor.v1.ProcessorEventService/ReportEvent`;
    const event = { eventId: 'counted', occurredAt: '2027-01-01T00:00:00Z' };
    const result = { answer: 'ANSWER_DECLINED', errorCode: 'no', errorMessage: 'No.' };
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${stage.tokens.processor}` },
      body: JSON.stringify({ ...event, operationSettled: { requestId, result } }),
    });
    assert.equal(response.status, 400);
    const scrape = await fetch(`http://127.0.0.1:${core.metricsPort}/metrics`, {
      headers: { authorization: `Bearer ${stage.tokens.operator}` },
    });
    assert.match(await scrape.text(), /^holdfast_processor_event_conflicts_total 1$/m);
    await core.close();
  });
});
