/** A merchant sees and changes its own records, and another's look like unknown ones. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { forSuite } from '../../../../suite.ts';
import { openMerchant } from '../../shop.ts';
import { openStage, refusal, type Stage, why } from '../../stage.ts';

type Clients = ReturnType<Stage['channel']>;

describe('the scope of a call', () => {
  let names: { requestId: string; preauthorizationId: string; captureId: string; octId: string };
  const stage = forSuite(openStage);
  const mine = forSuite(() => openMerchant(stage, 'mine'));

  before(async () => {
    await openMerchant(stage, 'theirs');
    const hold = await mine.hold();
    const { capture } = await mine.capture(hold, 1_000n);
    const { oct } = await mine.oct();
    names = { ...hold, captureId: capture?.requestId ?? '', octId: oct?.requestId ?? '' };
  });

  /** Every call that names a record: a known one, or not. */
  const calls = (clients: Clients, merchantId: string, named: typeof names): (() => Promise<unknown>)[] => {
    const { holds, octs, operations } = clients;
    const { requestId, preauthorizationId, captureId, octId } = named;
    return [
      () => holds.getPreauthorization({ merchantId, requestId }),
      () => holds.getPreauthorization({ merchantId, preauthorizationId }),
      () => holds.capturePreauthorization({ merchantId, preauthorizationId, amountToCapture: 1n }),
      () => holds.incrementPreauthorization({ merchantId, preauthorizationId, amountToAdd: 1n }),
      () => holds.extendPreauthorization({ merchantId, preauthorizationId }),
      () => holds.releasePreauthorization({ merchantId, preauthorizationId }),
      () => holds.releasePreauthorization({ merchantId, requestId }),
      () => octs.getOct({ merchantId, requestId: octId }),
      ...[requestId, captureId, octId].map((id) => () => operations.getOperation({ merchantId, requestId: id })),
    ];
  };

  for (const role of ['gateway', 'internal', 'operator'] as const) {
    it(`hides another merchant’s records: the answer is that for an unknown record (${role})`, async () => {
      const clients = stage.channel(role);
      const nothing = {
        preauthorizationId: `pre_${'x'.repeat(32)}`,
        requestId: randomUUID(),
        captureId: randomUUID(),
        octId: randomUUID(),
      };
      const foreign = calls(clients, 'theirs', names);
      const unknown = calls(clients, 'mine', nothing);
      for (const [index, call] of foreign.entries()) {
        const refused = await refusal(call());
        assert.match(refused.reason, /_NOT_FOUND$/);
        assert.deepEqual(refused, await refusal((unknown[index] ?? assert.fail())()));
      }
      assert.equal(await mine.books(names), 'PARTIALLY_CAPTURED 1000/0/9000/0/0');
    });

    it(`lists and watches only one merchant’s (${role})`, async () => {
      const { holds, operations } = stage.channel(role);
      const theirs = await operations.listOperations({ merchantId: 'theirs', holdRequestId: names.requestId });
      assert.equal(theirs.operations.length, 0);
      assert.equal((await holds.listPreauthorizations({ merchantId: 'theirs' })).preauthorizations.length, 0);
      assert.equal((await holds.listPreauthorizations({ merchantId: 'mine' })).preauthorizations.length, 1);
      assert.equal((await operations.listOperations({ merchantId: 'mine' })).operations.length, 3);
    });
  }

  it('must be named by the gateway, and by every caller that changes something except operators', async () => {
    const { holds, octs, operations } = stage.channel('gateway');
    const { requestId } = names;
    const unnamed = [
      () => holds.getPreauthorization({ requestId }),
      () => holds.listPreauthorizations({}),
      () => holds.releasePreauthorization({ requestId }),
      () => holds.capturePreauthorization({ preauthorizationId: names.preauthorizationId, amountToCapture: 1n }),
      () => holds.incrementPreauthorization({ preauthorizationId: names.preauthorizationId, amountToAdd: 1n }),
      () => holds.extendPreauthorization({ preauthorizationId: names.preauthorizationId }),
      () => octs.getOct({ requestId: names.octId }),
      () => operations.getOperation({ requestId }),
      () => operations.listOperations({}),
      () => operations.watchOperations({})[Symbol.asyncIterator]().next(),
    ];
    for (const call of unnamed) assert.equal(await why(call()), 'INVALID_REQUEST');
    const internal = stage.channel('internal').holds;
    const changing = [
      () => internal.releasePreauthorization({ requestId }),
      () => internal.capturePreauthorization({ preauthorizationId: names.preauthorizationId, amountToCapture: 1n }),
    ];
    for (const call of changing) assert.equal(await why(call()), 'INVALID_REQUEST');
    assert.equal(await mine.books(names), 'PARTIALLY_CAPTURED 1000/0/9000/0/0');
  });

  it('may be all merchants for internal services that read, and for operators', async () => {
    const { holds, operations, octs } = stage.channel('internal');
    const { requestId } = names;
    assert.equal((await holds.getPreauthorization({ requestId })).preauthorization?.merchantId, 'mine');
    assert.equal((await octs.getOct({ requestId: names.octId })).oct?.merchantId, 'mine');
    assert((await operations.listOperations({})).operations.length >= 3);
    const operator = stage.channel('operator').holds;
    const hold = await mine.hold();
    await operator.incrementPreauthorization({ requestId: hold.requestId, amountToAdd: 500n });
    await operator.extendPreauthorization({ requestId: hold.requestId });
    await operator.capturePreauthorization({ requestId: hold.requestId, amountToCapture: 2_000n });
    await operator.releasePreauthorization({ requestId: hold.requestId });
    assert.equal(await mine.books(hold), 'CAPTURED 2000/0/0/8500/0 RELEASED');
  });

  it('lets only operators capture by requestId', async () => {
    const by = { merchantId: 'mine', requestId: names.requestId, amountToCapture: 1n };
    for (const role of ['gateway', 'internal'] as const) {
      const call = stage.channel(role).holds.capturePreauthorization(by);
      assert.equal(await why(call), 'FORBIDDEN');
    }
  });

  it('shows what captures a hold or opens its checkout in its own answer alone, never to operators', async () => {
    const checkout = (await mine.checkout()).preauthorization ?? assert.fail();
    assert.match(checkout.checkoutUrl, /^http/);
    const { requestId } = names;
    for (const role of ['gateway', 'internal', 'operator'] as const) {
      const { holds } = stage.channel(role);
      const shown = role === 'operator' ? '' : names.preauthorizationId;
      const one = await holds.getPreauthorization({ merchantId: 'mine', requestId });
      assert.equal(one.preauthorization?.preauthorizationId, shown, role);
      const page = await holds.getPreauthorization({ merchantId: 'mine', requestId: checkout.requestId });
      assert.equal(page.preauthorization?.checkoutUrl, role === 'operator' ? '' : checkout.checkoutUrl, role);
      const { preauthorizations } = await holds.listPreauthorizations({ merchantId: 'mine' });
      assert(preauthorizations.length >= 2);
      for (const listed of preauthorizations) {
        assert.equal(listed.preauthorizationId, '', role);
        if (role === 'operator') assert.equal(listed.checkoutUrl, '');
      }
      const fields = { merchantId: 'mine', amount: 100n, currency: 'EUR', terminalId: 'T1', userId: 'u' };
      const placing = { ...fields, tokenId: 'tok_sandbox_ok', idempotencyKey: `shown-to-${role}` };
      for (const replayed of [false, true]) {
        const placed = await holds.createPreauthorization(placing);
        assert.equal(placed.replayed, replayed);
        assert.equal(placed.preauthorization?.preauthorizationId !== '', role !== 'operator', role);
        if (!replayed) continue;
        const named = { merchantId: 'mine', requestId: placed.preauthorization?.requestId ?? '' };
        const { preauthorization: released } = await holds.releasePreauthorization(named);
        assert.equal(released?.preauthorizationId !== '', role !== 'operator', role);
      }
    }
  });

  it('accepts what must be signed from the gateway and operators only', async () => {
    const { merchants } = stage.channel('operator');
    const terms = { currencies: ['EUR'], terminals: ['T1'], allowMultipleCaptures: true };
    const capturePublicKey = PUBLIC_KEY;
    await openMerchant(stage, 'signing');
    const requireSignedOperations = ['CAPTURE', 'OCT', 'REFUND'];
    const contract = { ...terms, requireSignedOperations, capturePublicKey };
    await merchants.updateMerchant({ merchantId: 'signing', name: 'signing', contract });
    const place = {
      merchantId: 'signing',
      tokenId: 'tok_sandbox_ok',
      amount: 10n,
      currency: 'EUR',
      terminalId: 'T1',
      userId: 'u',
    };
    const { preauthorization: hold } = await stage.channel('gateway').holds.createPreauthorization(place);
    const { preauthorizationId = '' } = hold ?? {};
    const capture = { merchantId: 'signing', preauthorizationId, amountToCapture: 1n };
    const refused = stage.channel('internal').holds.capturePreauthorization(capture);
    assert.equal(await why(refused), 'SIGNATURE_REQUIRED');
    assert.equal(await why(stage.channel('internal').octs.createOct(place)), 'SIGNATURE_REQUIRED');
    for (const role of ['gateway', 'operator'] as const) {
      const { capture: captured } = await stage.channel(role).holds.capturePreauthorization(capture);
      const refund = { merchantId: 'signing', captureRequestId: captured?.requestId ?? '' };
      assert.equal(await why(stage.channel('internal').refunds.createRefund(refund)), 'SIGNATURE_REQUIRED');
      await stage.channel(role).refunds.createRefund(refund);
      await stage.channel(role).octs.createOct(place);
    }
  });
});

/** A throw-away Ed25519 key. */
const PUBLIC_KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----`;
