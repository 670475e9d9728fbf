/** What happens to money after it was OK, as docs/real-life.md lists it, up to the merchant and in the books. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { credentials } from '@grpc/grpc-js';
import { openChannel } from '../../platform/grpc-client.ts';
import { AuditService } from '../../proto/gen/holdfast/v1/audit_pb.js';
import { expect } from '../../services/quickstart/shop.ts';
import { useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

describe('real life, as the sandbox plays it', () => {
  const stack = forSuite(useStack);
  /** All operations of these tests. */
  const known = new Set<string>();

  /** Orders of a customer of its own, by whose name the results are found. */
  const order = (behaviour: string, amount = 1_000) => {
    const userId = randomUUID();
    return { tokenId: `tok_sandbox_${behaviour}`, amount, currency: 'EUR', terminalId: 'till-1', userId };
  };

  async function captured(behaviour: string, amountToCapture = 701) {
    const asked = order(behaviour);
    const { body: hold } = expect(201, await stack.shop.post('/preauthorization', asked));
    const { preauthorizationId } = hold;
    const capture = await stack.shop.post('/preauthorization/authorization', { preauthorizationId, amountToCapture });
    const { requestId: captureRequestId } = expect(200, capture).body;
    return { ...asked, preauthorizationId, requestId: hold.requestId, captureRequestId };
  }

  /**
   * Waits until a customer's operations have these results, oldest first, each as kind and amount. Returns what the
   * merchant was notified of the last `count` of them.
   */
  async function untilResults(userId: string, expected: readonly string[], count: number) {
    for (;;) {
      const { body } = expect(200, await stack.shop.get(`/operations?userId=${userId}`));
      const results = body.items.toReversed();
      const shown = results.map(({ operation, amount }: Record<string, unknown>) => `${operation} ${amount}`);
      assert.deepEqual(shown, expected.slice(0, shown.length));
      if (shown.length < expected.length) {
        await delay(100);
        continue;
      }
      for (const { requestId } of results) known.add(requestId);
      const last: { requestId: string; statusInfo: string }[] = results.slice(-count);
      return Promise.all(last.map(({ requestId, statusInfo }) => stack.shop.notified(requestId, statusInfo)));
    }
  }

  const shownOf = async (path: string) => expect(200, await stack.shop.get(path)).body;

  it('a refund comes back in two parts, and is refunded again', async () => {
    const { userId, requestId, captureRequestId } = await captured('refund_returned_in_two_parts');
    const { body: refund } = expect(201, await stack.shop.post('/refund', { captureRequestId }));
    const all = ['HOLD 1000', 'CAPTURE 701', 'REFUND 701', 'REFUND_RETURN 350', 'REFUND_RETURN 351'];
    for (const { kind, statusInfo, verified, body } of await untilResults(userId, all, 2)) {
      assert.deepEqual([kind, statusInfo, verified, body.status], ['payment', 'refund_returned', true, 'KO']);
      assert.equal(body.refundRequestId, refund.requestId);
      assert.deepEqual([body.captureRequestId, body.holdRequestId], [captureRequestId, requestId]);
    }
    const { amountRefunded, captures } = await shownOf(`/preauthorization/${requestId}`);
    assert.deepEqual([amountRefunded, captures[0].amountRefunded], [0, 0]);
    expect(201, await stack.shop.post('/refund', { captureRequestId, amount: 701 }), { amountRefunded: 701 });
  });

  it('a payout comes back in two parts', async () => {
    const asked = order('oct_returned_in_two_parts', 501);
    const { body: oct } = expect(201, await stack.shop.post('/oct', asked), { status: 'OK' });
    const all = ['OCT 501', 'OCT_RETURN 250', 'OCT_RETURN 251'];
    for (const { kind, statusInfo, verified, body } of await untilResults(asked.userId, all, 2)) {
      assert.deepEqual([kind, statusInfo, verified, body.status], ['oct', 'returned', true, 'KO']);
      assert.equal(body.octRequestId, oct.requestId);
    }
    const { status, amountReturned } = await shownOf(`/oct/${oct.requestId}`);
    assert.deepEqual([status, amountReturned], ['OK', 501]);
  });

  it('a dispute is lost in two parts', async () => {
    const { userId, requestId, captureRequestId } = await captured('reversed_in_two_parts');
    const all = ['HOLD 1000', 'CAPTURE 701', 'REVERSAL 350', 'REVERSAL 351'];
    for (const { kind, statusInfo, verified, body } of await untilResults(userId, all, 2)) {
      assert.deepEqual([kind, statusInfo, verified, body.status], ['payment', 'reversed', true, 'KO']);
      assert.deepEqual([body.captureRequestId, body.holdRequestId], [captureRequestId, requestId]);
    }
    const { amountReversed, captures } = await shownOf(`/preauthorization/${requestId}`);
    assert.deepEqual([amountReversed, captures[0].reversed], [701, true]);
  });

  it('a dispute is won, and lost in the second round', async () => {
    const { userId, requestId } = await captured('reversed_again');
    const all = ['HOLD 1000', 'CAPTURE 701', 'REVERSAL 701', 'REINSTATEMENT 701', 'REVERSAL 701'];
    const told = await untilResults(userId, all, 3);
    assert.deepEqual(
      told.map(({ statusInfo, body }) => `${statusInfo} ${body.status}`),
      ['reversed KO', 'reinstated OK', 'reversed KO'],
    );
    const { amountReversed, amountCaptured, amountRemaining } = await shownOf(`/preauthorization/${requestId}`);
    assert.deepEqual([amountReversed, amountCaptured, amountRemaining], [701, 701, 299]);
  });

  it('the issuer ends a hold of which a part is captured', async () => {
    const { userId, requestId, preauthorizationId } = await captured('ended_after_capture');
    const [expired] = await untilResults(userId, ['HOLD 1000', 'CAPTURE 701', 'EXPIRY 299'], 1);
    assert.deepEqual([expired?.statusInfo, expired?.body.status], ['expired', 'KO']);
    const { status, releaseReason, amountReleased } = await shownOf(`/preauthorization/${requestId}`);
    assert.deepEqual([status, releaseReason, amountReleased], ['CAPTURED', 'EXPIRED', 299]);
    const more = { preauthorizationId, amountToCapture: 1 };
    expect(409, await stack.shop.post('/preauthorization/authorization', more), { code: 'HOLD_EXPIRED' });
  });

  it('the guarantee of a hold ends before the hold', async () => {
    const asked = order('guarantee_short');
    const { body: hold } = expect(201, await stack.shop.post('/preauthorization', asked));
    const [authorized] = await untilResults(asked.userId, ['HOLD 1000'], 1);
    assert.equal(authorized?.body.guaranteedUntil, hold.guaranteedUntil);
    assert(Date.parse(hold.guaranteedUntil) < Date.parse(hold.expiresAt));
  });

  it('leaves books that agree with the processor', async () => {
    assert(known.size > 20);
    const { coreUrl: address, operatorToken: token } = stack.file;
    const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 60_000 });
    try {
      const drifts = [];
      let audited = 0;
      for await (const { line } of channel.client(AuditService).auditBooks({ maxDrifts: 1_000 })) {
        if (line.case === 'drift' && known.has(line.value.requestId)) drifts.push(line.value);
        if (line.case === 'summary') audited = line.value.operations;
      }
      assert.deepEqual(drifts, []);
      assert(audited >= known.size);
    } finally {
      channel.close();
    }
  });
});
