import assert from 'node:assert/strict';
import { EntryKind, Finding, type InquireRequest } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { findHold } from '../../../../services/core/storage/hold/read-holds.ts';
import { forSuite } from '../../../suite.ts';
import { declined } from '../fake-processor.ts';
import { openScriptedStage } from '../scripted-stage.ts';
import { refusal } from '../stage.ts';

describe('openProcessor()', function () {
  this.timeout(30_000);
  const scripted = forSuite(openScriptedStage);

  it('tells the processor what an identifier is about when it inquires', async () => {
    const { desk, processor, stage } = scripted;
    scripted.approveAll();
    const hold = await desk.hold();
    processor.says.capture = () => undefined;
    const { capture } = await desk.capture(hold, 1_000n);
    const inquired: InquireRequest[] = [];
    processor.says.inquire = (request) => {
      inquired.push(request);
      return { finding: Finding.NEVER_SEEN, fenced: false };
    };
    await scripted.inquireLater();
    const [asked] = inquired.filter(({ requestId }) => requestId === capture?.requestId);
    const { authorizationRequestId, authorizationReference, kind, amount, currency } = asked ?? {};
    const stored = await findHold(stage.database.query, hold.requestId);
    assert(stored?.processorReference);
    assert.deepEqual(
      [authorizationRequestId, authorizationReference, kind, amount, currency],
      [hold.requestId, stored.processorReference, EntryKind.CAPTURE, 1_000n, 'EUR'],
    );
    assert(asked?.createdAt);
    assert.equal(await scripted.stateOf(capture?.requestId ?? ''), OperationState.UNKNOWN);
  });

  it('truncates an endless answer to the limits of the contract, so that it can be stored and returned', async () => {
    const { desk, processor } = scripted;
    const errorCode = 'c'.repeat(100);
    const errorMessage = `${'m'.repeat(499)}\u{1F4B3}${'m'.repeat(20_000)}`;
    processor.says.authorize = () => ({ ...declined, errorCode, errorMessage });
    const key = { idempotencyKey: 'endless' };
    for (const replayed of [undefined, 'true']) {
      const { reason, metadata } = await refusal(desk.place(key));
      assert.deepEqual([reason, metadata.replayed], ['CARD_DECLINED', replayed]);
      assert.deepEqual([metadata.processorCode, metadata.processorMessage], [errorCode.slice(0, 64), 'm'.repeat(499)]);
      const { processorError } = await desk.get({ requestId: metadata.requestId ?? '' });
      assert.deepEqual([processorError?.code, processorError?.message], [errorCode.slice(0, 64), 'm'.repeat(499)]);
    }
  });
});
