/** Operations are corrected whose authorization a renewal has replaced since. */
import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { Preauthorization } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { forSuite } from '../../../../suite.ts';
import { approved, declined } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant, sql } from '../../shop.ts';
import { refusal, why } from '../../stage.ts';

const { OK, KO } = OperationState;
const DAY_MS = 24 * 3_600_000;

describe('correctOperation() after a renewal', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'hotel'));
  const operators = forSuite(() => scripted.stage.client('operator', OperatorService));
  const correct = (requestId: string, outcome: OperationState) =>
    operators.correctOperation({ requestId, outcome, reason: 'The processor showed us its books.' });
  afterEach(async () => {
    assert.deepEqual(await scripted.stage.audit('own books'), []);
    await sql(scripted.stage, 'update hold set renew_at = null');
  });

  const inDays = (days: number) => timestampFromMs(scripted.stage.clock.now() + days * DAY_MS);
  const keep = () => {
    processor.says.authorize = () => ({ ...approved, guaranteedUntil: inDays(5) });
    return shop.hold({ keepUntil: inDays(30) });
  };
  const renew = async (hold: Preauthorization) => {
    scripted.stage.clock.advance(4 * DAY_MS);
    await scripted.stage.renewKept();
    await scripted.stage.inquire();
    assert.equal((await shop.get(hold)).authorizations.length, 2);
  };

  it('gives back what was not captured of it, and takes that again', async () => {
    const hold = await keep();
    const { capture = assert.fail() } = await shop.capture(hold, 3_000n);
    await renew(hold);
    await correct(capture.requestId, KO);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/7000/3000/0');
    assert.deepEqual(await scripted.stage.audit('own books'), []);
    await correct(capture.requestId, OK);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 3000/0/7000/0/0');
    await correct(capture.requestId, KO);
    await shop.capture(hold, 7_000n);
    assert.equal(await shop.books(hold), 'CAPTURED 7000/0/0/3000/0 FINAL');
    await correct(capture.requestId, OK);
    assert.equal(await shop.books(hold), 'CAPTURED 10000/0/0/0/0');
  });

  it('has no room for a capture that was done after all: what remained is on another authorization', async () => {
    const hold = await keep();
    processor.says.capture = () => declined;
    const { metadata } = await refusal(shop.capture(hold, 3_000n));
    scripted.approveAll();
    processor.says.authorize = () => ({ ...approved, guaranteedUntil: inDays(5) });
    await renew(hold);
    const requestId = metadata.requestId ?? assert.fail();
    assert.equal(await why(correct(requestId, OK)), 'AMOUNT_EXCEEDS_HOLD');
    await shop.release(hold);
    assert.equal(await why(correct(requestId, OK)), 'AMOUNT_EXCEEDS_HOLD');
    assert.equal(await shop.books(hold), 'RELEASED 0/0/0/10000/0 RELEASED');
  });

  it('refuses to correct an increment, of which the renewal is', async () => {
    const hold = await keep();
    const { requestId } = await shop.increment(hold, 500n);
    await renew(hold);
    assert.equal(await why(correct(requestId, KO)), 'NOT_CORRECTABLE');
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10500/0/0');
  });
});
