import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '../../services/quickstart/shop.ts';
import { openOracle } from '../services/sandbox/oracle.ts';
import { useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

const DAY_MS = 24 * 3_600_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

interface Authorization {
  readonly reference: string;
  readonly placedAt: string;
  readonly endedAt?: string;
  readonly guaranteedUntil: string;
}

describe('a hold that renews itself', () => {
  const stack = forSuite(useStack);

  /** An order of a customer of its own, by whose name it is found again. */
  const order = (fields: object = {}) => ({
    tokenId: 'tok_sandbox_guarantee_short',
    amount: 1_000,
    currency: 'EUR',
    terminalId: 'till-1',
    userId: randomUUID(),
    keepUntil: inDays(30),
    ...fields,
  });
  const place = (asked: object) => stack.shop.post('/preauthorization', asked);
  const change = async (requestId: string, body: object) => {
    const response = await fetch(`${stack.file.baseUrl}/preauthorization/${requestId}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${stack.file.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const shown = async (requestId: string) => expect(200, await stack.shop.get(`/preauthorization/${requestId}`)).body;
  const until = async (requestId: string, isSo: (chain: readonly Authorization[]) => boolean) => {
    for (;;) {
      const hold = await shown(requestId);
      if (isSo(hold.authorizations)) return hold;
      await delay(50);
    }
  };
  const resultsOf = async (requestId: string) =>
    expect(200, await stack.shop.get(`/operations?holdRequestId=${requestId}`)).body.items.toReversed();
  const entriesOf = (user: string) => {
    const oracle = openOracle(`${stack.dataDir}/sandbox.sqlite`);
    try {
      return oracle.entries().filter(({ userId }) => userId === user);
    } finally {
      oracle.close();
    }
  };

  it('is one hold for the merchant over three renewals, and is captured as any other', async () => {
    const asked = order();
    const { requestId, preauthorizationId, keepUntil } = expect(201, await place(asked)).body;
    assert.equal(keepUntil, asked.keepUntil);
    const kept = await until(
      requestId,
      (chain) => chain.length > 3 && chain.slice(0, 3).every(({ endedAt }) => endedAt),
    );
    assert.deepEqual(
      [kept.preauthorizationId, kept.status, kept.amountRemaining],
      [preauthorizationId, 'IN_PROGRESS', 1_000],
    );
    const capture = { preauthorizationId, amountToCapture: 700, finalCapture: true };
    expect(200, await stack.shop.post('/preauthorization/authorization', capture));
    const { status, authorizations, amountReleased } = await until(requestId, (chain) =>
      chain.every(({ endedAt }) => endedAt),
    );
    assert.deepEqual([status, amountReleased], ['CAPTURED', 300]);
    const places = authorizations.map(({ placedAt }: Authorization) => placedAt);
    assert.deepEqual(places, places.toSorted());
    for (const [place, { endedAt }] of authorizations.slice(0, -1).entries())
      assert(
        authorizations[place + 1].placedAt <= endedAt,
        'the one before is given back after the next one is placed',
      );
    assert.equal(new Set(authorizations.map(({ reference }: Authorization) => reference)).size, authorizations.length);

    const results = await resultsOf(requestId);
    const words = results.map((each: { statusInfo: string }) => each.statusInfo);
    const renewals = results.filter((each: { operation: string }) => each.operation === 'RENEWAL');
    assert.deepEqual(words, [...renewals.map(() => 'renewed'), 'captured']);
    assert.equal(renewals.length, authorizations.length - 1);
    for (const [place, { requestId: renewal, reference }] of renewals.entries()) {
      const { verified, headers, body } = await stack.shop.notified(renewal, 'renewed');
      assert(verified && headers['x-relay-signed-fields']);
      const { status, operation, amount, holdRequestId, sequence, guaranteedUntil, expiresAt } = body;
      assert.deepEqual([status, operation, amount, holdRequestId], ['OK', 'RENEWAL', 1_000, requestId]);
      assert.deepEqual([sequence, reference], [place + 2, authorizations[place + 1].reference]);
      assert.equal(guaranteedUntil, authorizations[place + 1].guaranteedUntil);
      assert(guaranteedUntil < expiresAt);
    }
    // A renewal that the capture overtook is given back a little later.
    const authorized = () => entriesOf(asked.userId).filter(({ kind }) => kind === 'authorization');
    const isOver = () => authorized().every(({ captured, voided, amount }) => captured + voided === amount);
    while (!isOver()) await delay(50);
    assert.equal(
      authorized().reduce((sum, { captured }) => sum + captured, 0),
      700,
    );
  });

  it('lives on when its renewal is declined', async () => {
    const { requestId, preauthorizationId } = expect(
      201,
      await place(order({ tokenId: 'tok_sandbox_renewal_declined' })),
    ).body;
    const renewal = async (): Promise<string> => {
      const found = (await resultsOf(requestId)).find((each: { operation: string }) => each.operation === 'RENEWAL');
      if (found) return found.requestId;
      await delay(50);
      return renewal();
    };
    const { verified, body } = await stack.shop.notified(await renewal(), 'renewal_declined');
    assert(verified);
    assert.deepEqual([body.status, body.amount, body.holdRequestId], ['KO', 1_000, requestId]);
    const { body: operation } = await stack.shop.get(`/operations/${body.requestId}`);
    assert.equal(operation.processorCode, 'renewal_declined');
    assert.equal((await shown(requestId)).authorizations.length, 1);
    const capture = { preauthorizationId, amountToCapture: 1_000 };
    expect(200, await stack.shop.post('/preauthorization/authorization', capture));
  });

  it('can be kept later, and no longer', async () => {
    const { requestId } = expect(201, await place(order({ keepUntil: undefined }))).body;
    assert.equal('authorizations' in (await shown(requestId)), false);
    const later = inDays(90 - 1);
    assert.equal(expect(200, await change(requestId, { keepUntil: later })).body.keepUntil, later);
    await until(requestId, (chain) => chain.length > 1);
    assert.equal(expect(200, await change(requestId, { keepUntil: null })).body.keepUntil, undefined);
    assert((await shown(requestId)).authorizations.length > 1);
  });

  for (const [what, wrong, code] of [
    ['in the past', { keepUntil: inDays(-1) }, 'TIME_OUT_OF_RANGE'],
    ['more than 90 days away', { keepUntil: inDays(90.01) }, 'TIME_OUT_OF_RANGE'],
    ['no time', { keepUntil: 'in May' }, 'INVALID_REQUEST'],
    ['without its zone', { keepUntil: '2030-01-01T12:00:00' }, 'INVALID_REQUEST'],
    ['of a hold without a token', { tokenId: undefined }, 'INVALID_REQUEST'],
  ] as const) {
    it(`refuses a time ${what}, and neither stores nor sends anything`, async () => {
      const asked = order(wrong);
      const refused = expect(400, await place(asked), { code }).body;
      assert.deepEqual(
        refused.errors.map(({ field }: { field: string }) => field),
        ['keepUntil'],
      );
      assert.deepEqual((await stack.shop.get(`/preauthorization?userId=${asked.userId}`)).body.items, []);
      assert.deepEqual(entriesOf(asked.userId), []);
    });
  }

  it('refuses to keep a hold wrongly, and leaves it as it was', async () => {
    const { requestId } = expect(201, await place(order({ tokenId: 'tok_sandbox_ok', keepUntil: undefined }))).body;
    const before = await shown(requestId);
    for (const [keepUntil, code] of [
      [inDays(-1), 'TIME_OUT_OF_RANGE'],
      [inDays(90.01), 'TIME_OUT_OF_RANGE'],
      ['in May', 'INVALID_REQUEST'],
    ]) {
      const { body } = expect(400, await change(requestId, { keepUntil }), { code });
      assert.deepEqual(
        (body as { errors: { field: string }[] }).errors.map(({ field }) => field),
        ['keepUntil'],
      );
    }
    assert.deepEqual(await shown(requestId), before);
    const returnUrl = `${stack.file.demoMerchantUrl}/return`;
    const checkout = expect(201, await place(order({ tokenId: undefined, keepUntil: undefined, returnUrl }))).body;
    expect(400, await change(checkout.requestId, { keepUntil: inDays(1) }), { code: 'INVALID_REQUEST' });
    assert.equal((await shown(checkout.requestId)).keepUntil, undefined);
  });
});
