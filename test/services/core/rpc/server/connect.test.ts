/** The life of a hold over the Connect protocol, as JSON. */
import assert from 'node:assert/strict';
import { forSuite } from '../../../../suite.ts';
import { openMerchant } from '../../shop.ts';
import { openStage } from '../../stage.ts';

describe('core over Connect', () => {
  const stage = forSuite(openStage);
  const acme = forSuite(() => openMerchant(stage, 'acme'));

  /** Calls a method in the merchant's name; returns the status and the body. */
  async function call(method: string, fields: object) {
    const response = await fetch(`http://127.0.0.1:${stage.cores[0]?.connectPort}/holdfast.v1.${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${stage.tokens.internal}` },
      body: JSON.stringify({ merchantId: 'acme', ...fields }),
    });
    return { status: response.status, body: (await response.json()) as Answer };
  }
  const onHold = (verb: string, fields: object) => call(`PreauthorizationService/${verb}Preauthorization`, fields);

  it('places, increments, extends, captures, refunds, renews and changes', async () => {
    const hold = { tokenId: 'tok_sandbox_ok', amount: '10000', currency: 'EUR', terminalId: 'T1', userId: 'u1' };
    const { preauthorizationId = '', requestId = '' } = (await onHold('Create', hold)).body.preauthorization ?? {};
    const incremented = await onHold('Increment', { preauthorizationId, amountToAdd: '2500' });
    assert.deepEqual([incremented.status, incremented.body.preauthorization?.amount], [200, '12500']);
    stage.clock.advance(86_400_000);
    const extended = await onHold('Extend', { preauthorizationId });
    assert.equal(
      extended.body.preauthorization?.expiresAt,
      new Date(stage.clock.now() + 7 * 86_400_000).toISOString().replace('.000', ''),
    );
    const { capture } = (await onHold('Capture', { preauthorizationId, amountToCapture: '5000' })).body;
    const refund = { captureRequestId: capture?.requestId, amount: '2000' };
    assert.equal((await call('RefundService/CreateRefund', refund)).body.refund?.state, 'OPERATION_STATE_OK');
    const { status, body } = await call('RefundService/CreateRefund', { ...refund, amount: '3001' });
    assert.deepEqual([status, body.code], [400, 'out_of_range']);
    assert.match(JSON.stringify(body.details), /AMOUNT_EXCEEDS_CAPTURE/);
    const renewed = (await onHold('Renew', { requestId })).body.preauthorization;
    assert.deepEqual([renewed?.amount, renewed?.renews], ['7500', requestId]);
    assert.equal(await acme.books({ requestId }), 'PARTIALLY_CAPTURED 5000/0/7500/0/0 refunded 2000');
    const captureAt = new Date(stage.clock.now() + 60_000).toISOString();
    const change = {
      requestId: renewed?.requestId,
      updateMask: 'captureAt,description',
      captureAt,
      description: 'Room 12',
    };
    const changed = (await onHold('Update', change)).body.preauthorization;
    assert.deepEqual([changed?.captureAt, changed?.description], [captureAt.replace('.000', ''), 'Room 12']);
    assert.deepEqual(await stage.audit(), []);
  });
});

interface Answer {
  readonly preauthorization?: Readonly<Record<string, string>>;
  readonly capture?: { readonly requestId: string };
  readonly refund?: { readonly state: string };
  readonly code?: string;
  readonly details?: object[];
}
