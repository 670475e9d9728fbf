import assert from 'node:assert/strict';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { HoldStatus } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { contract, openStage, refusal, type Stage } from '../stage.ts';

describe('the money of core', () => {
  let stage: Stage;
  let client: ReturnType<Stage['channel']>;
  const place = (fields: object = {}) =>
    client.holds.createPreauthorization({
      merchantId: 'acme',
      tokenId: 'tok_sandbox_ok',
      amount: 10_000n,
      currency: 'EUR',
      terminalId: 'T1',
      userId: 'u1',
      ...fields,
    });

  before(async () => {
    stage = await openStage();
    client = stage.channel('internal');
    const { merchants } = stage.channel('operator');
    await merchants.createMerchant({ merchantId: 'acme', name: 'Acme', contract: contract() });
    await merchants.createMerchant({
      merchantId: 'solo',
      name: 'Solo',
      contract: contract({ allowMultipleCaptures: false }),
    });
  });
  after(() => stage.close());

  it('places a hold with a token and captures it in parts', async () => {
    const { preauthorization: hold, state } = await place();
    assert.equal(state, OperationState.OK);
    assert.match(hold?.preauthorizationId ?? '', /^pre_/);
    const preauthorizationId = hold?.preauthorizationId ?? '';
    const first = await client.holds.capturePreauthorization({
      merchantId: 'acme',
      preauthorizationId,
      amountToCapture: 4_000n,
    });
    assert.equal(first.capture?.state, OperationState.OK);
    assert.equal(first.capture?.amountRemaining, 6_000n);
    assert.equal(first.capture?.preauthorizationStatus, HoldStatus.PARTIALLY_CAPTURED);
    const over = client.holds.capturePreauthorization({
      merchantId: 'acme',
      preauthorizationId,
      amountToCapture: 6_001n,
    });
    assert.equal((await refusal(over)).reason, 'AMOUNT_EXCEEDS_HOLD');
    const last = await client.holds.capturePreauthorization({
      merchantId: 'acme',
      preauthorizationId,
      amountToCapture: 5_000n,
      finalCapture: true,
    });
    assert.equal(last.capture?.amountReleased, 1_000n);
    const read = await client.holds.getPreauthorization({ merchantId: 'acme', requestId: hold?.requestId ?? '' });
    assert.equal(read.preauthorization?.status, HoldStatus.CAPTURED);
    assert.equal(read.preauthorization?.captures.length, 2);
    assert.equal(stage.oracle.entries(hold?.requestId).filter((entry) => entry.kind === 'capture').length, 2);
  });
});
