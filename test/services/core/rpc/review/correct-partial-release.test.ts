import assert from 'node:assert/strict';
import { create } from '@bufbuild/protobuf';
import { CapabilitiesSchema } from '../../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { forSuite } from '../../../../suite.ts';
import { approved, declined, neverSeen } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant } from '../../shop.ts';
import { refusal, why } from '../../stage.ts';

const { OK, KO } = OperationState;

describe('correctOperation() of a partial release', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'told', { webhookUrl: 'https://merchant.example' }));
  const operators = forSuite(() => scripted.stage.client('operator', OperatorService));
  afterEach(async () => assert.deepEqual(await scripted.stage.audit('own books'), []));

  const correct = (requestId: string, outcome: OperationState) =>
    operators.correctOperation({ requestId, outcome, reason: 'The processor showed us its books.' });
  /** A hold of 10000 that gives parts back. */
  const ableToRelease = () => {
    const able = { severalCaptures: true, increments: true, extension: true, refunds: true, partialRelease: true };
    processor.says.authorize = () => ({ ...approved, capabilities: create(CapabilitiesSchema, able) });
    return shop.hold();
  };
  const refusedPart = async (hold: { requestId: string }) => {
    processor.says.decreaseAuthorization = () => declined;
    const { metadata } = await refusal(shop.releasePart(hold, 3_000n));
    scripted.approveAll();
    return metadata.requestId ?? assert.fail();
  };

  it('gives its amount back, or takes it back', async () => {
    const hold = await ableToRelease();
    const requestId = await refusedPart(hold);
    await scripted.settled(requestId, approved);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
    await correct(requestId, OK);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/7000/3000/0');
    assert.equal(await why(shop.capture(hold, 7_001n)), 'AMOUNT_EXCEEDS_HOLD');
    await correct(requestId, KO);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    assert.deepEqual((await shop.results(hold)).slice(-2), ['corrected 3000', 'corrected 3000']);
    const { requestId: done } = await shop.releasePart(hold, 2_000n);
    await correct(done, KO);
    await shop.capture(hold, 10_000n);
    assert.equal(await why(correct(done, OK)), 'AMOUNT_EXCEEDS_HOLD');
  });

  it('after which nothing is left closes the hold', async () => {
    const hold = await ableToRelease();
    const requestId = await refusedPart(hold);
    await shop.capture(hold, 7_000n);
    processor.says.capture = () => undefined;
    await shop.capture(hold, 1_000n);
    assert.equal(await why(correct(requestId, OK)), 'CAPTURE_IN_FLIGHT');
    scripted.approveAll();
    processor.says.inquire = () => neverSeen;
    scripted.stage.clock.advance(60_000);
    await scripted.stage.inquire();
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 7000/0/3000/0/0');
    await correct(requestId, OK);
    assert.match(await shop.books(hold), /^CAPTURED 7000\/0\/0\/3000\/0/);
  });

  it('moves nothing of a hold that has ended', async () => {
    const hold = await ableToRelease();
    const { requestId } = await shop.releasePart(hold, 3_000n);
    await shop.release(hold);
    const books = 'RELEASED 0/0/0/10000/0 RELEASED';
    for (const outcome of [KO, OK]) {
      await correct(requestId, outcome);
      assert.equal(await shop.books(hold), books);
      assert.deepEqual(await scripted.stage.audit('own books'), []);
    }
  });
});
