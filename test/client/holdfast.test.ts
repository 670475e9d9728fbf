/** The client against a running service. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Holdfast, type HoldfastOptions } from '../../client/holdfast.ts';
import { asOperator } from '../../services/quickstart/as-operator.ts';
import { untilKnown } from '../../services/quickstart/until-served.ts';
import { type Stack, useStack } from '../stack.ts';

const CUSTOMER = { amount: 10_000, currency: 'EUR', terminalId: 'till-1', userId: 'client' };

describe('Holdfast', () => {
  let stack: Stack;
  const open = (options: Partial<HoldfastOptions> = {}) =>
    new Holdfast({ baseUrl: stack.file.baseUrl, apiKey: stack.file.apiKey, ...options });
  before(async () => {
    stack = await useStack();
  });

  it('places, captures, releases and lists holds', async () => {
    const { holds, operations } = open();
    const hold = await holds.create({ ...CUSTOMER, tokenId: 'tok_sandbox_ok', metadata: { order: '1' } });
    assert(hold.outcome === 'done' && 'preauthorizationId' in hold && hold.preauthorizationId !== undefined);
    const { preauthorizationId, requestId } = hold;
    const capture = await holds.capture({ preauthorizationId, amountToCapture: 4_000 });
    assert(capture.outcome === 'done');
    assert.equal(capture.amountRemaining, 6_000);
    const part = await holds.release({ requestId, amountToRelease: 1_000 });
    assert(part.outcome === 'done');
    assert.deepEqual(
      [part.release, part.status, part.amountRemaining],
      [{ amountReleased: 1_000 }, 'PARTIALLY_CAPTURED', 5_000],
    );
    const released = await holds.release({ requestId });
    assert(released.outcome === 'done');
    assert.deepEqual([released.release, (await holds.get(requestId)).amountReleased], [undefined, 6_000]);
    const results: string[] = [];
    for await (const result of operations.list({ holdRequestId: requestId, pageSize: 1 }))
      results.push(result.operation);
    assert.deepEqual(results, ['RELEASE', 'PARTIAL_RELEASE', 'CAPTURE']);
    const again = await holds.create(
      { ...CUSTOMER, tokenId: 'tok_sandbox_ok', metadata: { order: '1' } },
      { idempotencyKey: hold.idempotencyKey },
    );
    assert(again.outcome === 'done');
    assert.deepEqual([again.requestId, again.replayed], [requestId, true]);
  });

  it('changes what a hold is for', async () => {
    const { holds, contract } = open();
    assert((await contract.get()).currencies.includes('EUR'));
    const placed = await holds.create({ ...CUSTOMER, tokenId: 'tok_sandbox_ok' });
    assert(placed.outcome === 'done');
    const changed = await holds.update(placed.requestId, { description: 'Room 7', merchantReference: 'r-7' });
    assert.deepEqual([changed.description, changed.merchantReference], ['Room 7', 'r-7']);
    assert.equal((await holds.update(placed.requestId, { description: null })).description, undefined);
  });

  it('renews a hold for what remains of it, also under a key', async () => {
    const { holds } = open();
    const old = await holds.create({ ...CUSTOMER, tokenId: 'tok_sandbox_ok' });
    assert(old.outcome === 'done' && 'preauthorizationId' in old && old.preauthorizationId !== undefined);
    await holds.capture({ preauthorizationId: old.preauthorizationId, amountToCapture: 4_000 });
    const renewed = await holds.renew({ requestId: old.requestId });
    assert(renewed.outcome === 'done');
    assert.deepEqual([renewed.amount, renewed.renews], [6_000, old.requestId]);
    const again = await holds.renew({ requestId: old.requestId }, { idempotencyKey: renewed.idempotencyKey });
    assert(again.outcome === 'done');
    assert.deepEqual([again.requestId, again.replayed], [renewed.requestId, true]);
  });

  it('follows a hold whose processor does not answer, until there is a result', async () => {
    const { holds } = open();
    const hold = await holds.create({ ...CUSTOMER, tokenId: 'tok_sandbox_timeout_applied' });
    assert(hold.outcome === 'done');
    assert.equal((await holds.get(hold.requestId)).status, 'IN_PROGRESS');
    const never = holds.create({ ...CUSTOMER, tokenId: 'tok_sandbox_timeout_lost' });
    await assert.rejects(never, { code: 'PROCESSOR_ERROR' });
  });

  it('says what it does not know when the time is over, and what became of it to whoever asks again', async () => {
    const { holds } = open();
    const hold = { ...CUSTOMER, tokenId: 'tok_sandbox_timeout_applied' };
    const unknown = await holds.create(hold, { timeoutMs: 1_000 });
    assert.equal(unknown.outcome, 'unknown');
    const { idempotencyKey } = unknown;
    assert.equal((await holds.create(hold, { idempotencyKey })).outcome, 'done');
  });

  it('watches results, and sees each once', async () => {
    const { holds, octs, operations } = open();
    const abort = new AbortController();
    const first = operations.watch({ signal: abort.signal }).next();
    const isSeen = () => Promise.race([first.then(() => true), delay(100, false)]);
    // The stream begins when it is open: what ended before is not in it.
    do await octs.create({ ...CUSTOMER, tokenId: 'tok_sandbox_ok' });
    while (!(await isSeen()));
    const { value } = await first;
    assert(value);
    await assert.rejects(holds.create({ ...CUSTOMER, tokenId: 'tok_sandbox_declined' }), { code: 'CARD_DECLINED' });
    const seen = [value.data.requestId];
    for await (const { data } of operations.watch({ after: value.id, signal: abort.signal })) {
      seen.push(data.requestId);
      if (data.statusInfo === 'declined') abort.abort();
    }
    assert(seen.length > 1);
    assert.equal(new Set(seen).size, seen.length);
  });

  it('signs captures, OCTs and refunds with the key of the merchant', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const merchantId = 'signing-client';
    const contract = {
      currencies: ['EUR'],
      terminals: ['till-1'],
      allowOct: true,
      requireSignedOperations: ['CAPTURE', 'OCT', 'REFUND'],
      capturePublicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    };
    const { apiKey } = await asOperator(stack.file, (merchants) =>
      merchants.createMerchant({ merchantId, name: 'Signs all that moves money', contract }),
    );
    await untilKnown(stack.file.baseUrl, apiKey);
    const hold = await open({ apiKey }).holds.create({ ...CUSTOMER, tokenId: 'tok_sandbox_ok' });
    assert(hold.outcome === 'done' && 'preauthorizationId' in hold && hold.preauthorizationId !== undefined);
    const capture = { preauthorizationId: hold.preauthorizationId, amountToCapture: 1 };
    await assert.rejects(open({ apiKey }).holds.capture(capture), { code: 'SIGNATURE_REQUIRED' });
    const signed = open({ apiKey, signOperations: { merchantId, privateKey } });
    const { now } = Date;
    Date.now = () => now() + 600_000;
    try {
      await assert.rejects(signed.holds.capture(capture), { code: 'SIGNATURE_REQUIRED', message: /clock/ });
    } finally {
      Date.now = now;
    }
    const captured = await signed.holds.capture(capture);
    assert(captured.outcome === 'done');
    const oct = { ...CUSTOMER, tokenId: 'tok_sandbox_ok' };
    const refund = { captureRequestId: captured.requestId };
    await assert.rejects(open({ apiKey }).octs.create(oct), { code: 'SIGNATURE_REQUIRED' });
    await assert.rejects(open({ apiKey }).refunds.create(refund), { code: 'SIGNATURE_REQUIRED' });
    assert.equal((await signed.octs.create(oct)).outcome, 'done');
    const asBefore = open({ apiKey, signCaptures: { merchantId, privateKey } });
    assert.equal((await asBefore.refunds.create(refund)).outcome, 'done');
  });
});
