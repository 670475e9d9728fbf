import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '../../services/quickstart/shop.ts';
import { useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

const ORDER = { tokenId: 'tok_sandbox_ok', currency: 'EUR', terminalId: 'till-1', userId: 'ann' };

describe('the life of a hold', () => {
  const stack = forSuite(useStack);

  /** Reads a hold until it is as awaited. */
  async function until(requestId: string, isSo: (hold: Record<string, unknown>) => boolean) {
    for (;;) {
      const { body } = expect(200, await stack.shop.get(`/preauthorization/${requestId}`));
      if (isSo(body)) return body;
      await delay(50);
    }
  }

  /**
   * Asserts what was received about operations, in the order of `sequence`: the relay has verified one signature of
   * each, and the demo merchant the other.
   */
  async function received(...operations: (readonly [requestId: string, word: string, amount: number])[]) {
    let last = 0;
    for (const [index, [requestId, word, amount]] of operations.entries()) {
      const { verified, headers, body } = await stack.shop.notified(requestId, word);
      assert(verified && headers['x-relay-signed-fields']);
      assert.deepEqual([body.sequence, body.amount], [index + 1, amount], word);
      assert(body.position > last);
      last = body.position;
      assert.equal((await stack.shop.received(requestId)).length, 1);
    }
  }

  it('is held, incremented, extended, captured, released and refunded in part, renewed, and captured by itself', async () => {
    const { shop, file } = stack;
    const { body: hold } = expect(201, await shop.post('/preauthorization', { ...ORDER, amount: 1_000 }));
    const { preauthorizationId, requestId } = hold;
    const more = { preauthorizationId, amountToAdd: 500 };
    const { body: increment } = expect(200, await shop.post('/preauthorization/increment', more));
    const { body: extended } = expect(200, await shop.post('/preauthorization/extend', { preauthorizationId }));
    assert(extended.expiresAt > hold.expiresAt);
    const part = { preauthorizationId, amountToCapture: 1_200 };
    const { body: capture } = expect(200, await shop.post('/preauthorization/authorization', part));
    const unneeded = { preauthorizationId, amountToRelease: 100 };
    const { body: less } = expect(200, await shop.post('/preauthorization/release', unneeded));
    assert.deepEqual(
      [less.release, less.status, less.amountRemaining],
      [{ amountReleased: 100 }, 'PARTIALLY_CAPTURED', 200],
    );
    const half = { captureRequestId: capture.requestId, amount: 600 };
    const { body: refund } = expect(201, await shop.post('/refund', half));
    const { body: renewed } = expect(201, await shop.post('/preauthorization/renew', { requestId }));
    assert.deepEqual([renewed.amount, renewed.renews], [200, requestId]);
    // It must be in the future when it arrives.
    const captureIn = async (ms: number): Promise<number> => {
      const { status } = await fetch(`${file.baseUrl}/preauthorization/${renewed.requestId}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${file.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ captureAt: new Date(Date.now() + ms).toISOString() }),
      });
      return status === 400 && ms < 60_000 ? captureIn(2 * ms) : status;
    };
    assert.equal(await captureIn(1_000), 200);

    const old = await until(requestId, ({ status }) => status === 'CAPTURED');
    const { amount, amountCaptured, amountRefunded, amountReleased } = old;
    assert.deepEqual([amount, amountCaptured, amountRefunded, amountReleased], [1_500, 1_200, 600, 300]);
    const { body: of } = await shop.get(`/operations?holdRequestId=${requestId}`);
    const idOf = (operation: string) =>
      of.items.find((each: typeof increment) => each.operation === operation)?.requestId;
    await received(
      [requestId, 'authorized', 1_000],
      [increment.requestId, 'incremented', 500],
      [idOf('EXTENSION'), 'extended', 0],
      [capture.requestId, 'captured', 1_200],
      [less.releaseRequestId, 'partially_released', 100],
      [refund.requestId, 'refunded', 600],
      [idOf('RELEASE'), 'released', 200],
    );

    const { captures } = await until(renewed.requestId, ({ status }) => status === 'CAPTURED');
    await received([renewed.requestId, 'authorized', 200], [captures[0].requestId, 'captured', 200]);
  });
});
