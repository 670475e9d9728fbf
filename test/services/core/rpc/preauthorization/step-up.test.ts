/** Holds with a token whose issuer asks the customer for authentication: a checkout whose card is known. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { HoldPhase, ThreeDSecure } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { inNameOf } from '../../../../../services/core/storage/audit-log/actor.ts';
import { moveSequencesAhead } from '../../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../../suite.ts';
import { confirm } from '../../../sandbox/checkout/browse.ts';
import { decideAt } from '../../reconciliation/decide.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, refusal, useMortalStage, why } from '../../stage.ts';
import { beginAnew, rememberNow } from '../../time-machine.ts';

const RETURN = { customerPresent: true, returnUrl: 'https://shop.example/done' };
const CHALLENGE = { ...RETURN, tokenId: 'tok_sandbox_challenge' };
const HALF_AN_HOUR_MS = 1_800_000;

describe('step-up of a hold with a token', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme', { notifyHolds: true, webhookUrl: 'https://a.example' }));
  beginAnew(stage);
  const restored = () => inNameOf('operator/ann', () => moveSequencesAhead(stage.database, new Date()));
  const asked = async (fields: object = CHALLENGE) => {
    const { preauthorization: hold = assert.fail(), state } = await shop.place(fields);
    assert.equal(state, OperationState.PENDING);
    return { ...hold, url: hold.nextAction?.url ?? assert.fail() };
  };
  const later = async (byMs = HALF_AN_HOUR_MS) => {
    stage.clock.advance(byMs);
    await stage.expire();
  };
  afterEach(async () => assert.deepEqual(await stage.audit(), []));

  it('waits for the customer for half an hour, without a preauthorizationId', async () => {
    const hold = await asked();
    assert.deepEqual([hold.preauthorizationId, hold.checkoutUrl, hold.checkoutExpiresAt], ['', '', undefined]);
    assert.equal(Number(hold.nextAction?.expiresAt?.seconds) * 1_000, stage.clock.now() + HALF_AN_HOUR_MS);
    assert.equal(await shop.books(hold), 'IN_PROGRESS AWAITING_CUSTOMER 0/0/0/0/0');
    assert.deepEqual((await shop.get(hold)).nextAction, hold.nextAction);
    assert.deepEqual(await shop.results(hold), []);
    const { holds } = stage.channel('operator');
    const { preauthorization } = await holds.getPreauthorization({ merchantId: 'acme', requestId: hold.requestId });
    assert.deepEqual(preauthorization?.nextAction, { ...hold.nextAction, url: '' });
  });

  it('is placed when the customer confirms, and captured like any other', async () => {
    const hold = await asked();
    const way = await confirm(hold.url, 'pass');
    assert.equal(way.headers.get('location'), `https://shop.example/done?requestId=${hold.requestId}`);
    const placed = await shop.get(hold);
    assert.deepEqual([placed.phase, placed.nextAction], [HoldPhase.AUTHORIZED, undefined]);
    assert.deepEqual([placed.paymentMethod?.threeDSecure, placed.customerPresent], ['authenticated', true]);
    await shop.capture(placed, 4_000n);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/0');
    assert.deepEqual(await shop.results(hold), ['authorized', 'captured 4000']);
  });

  it('asks in any case with challenge, and otherwise as the issuer does', async () => {
    await asked({ ...RETURN, threeDSecure: ThreeDSecure.CHALLENGE });
    const { state } = await shop.place({ ...RETURN, threeDSecure: ThreeDSecure.AUTOMATIC });
    assert.equal(state, OperationState.OK);
  });

  for (const [what, tokenId, action] of [
    ['refuses', 'tok_sandbox_challenge', 'fail'],
    ['cannot be authenticated', 'tok_sandbox_challenge_failed', 'pass'],
  ] as const) {
    it(`fails when the customer ${what}`, async () => {
      const hold = await asked({ ...CHALLENGE, tokenId });
      await confirm(hold.url, action);
      assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
      assert.deepEqual(await shop.results(hold), ['declined']);
      assert.equal((await shop.get(hold)).processorError?.code, 'authentication_failed');
    });
  }

  it('is declined where the customer cannot be sent to its issuer', async () => {
    for (const fields of [{}, { customerPresent: true }]) {
      const { reason, metadata } = await refusal(shop.place({ tokenId: 'tok_sandbox_challenge', ...fields }));
      assert.deepEqual([reason, metadata.processorCode], ['CARD_DECLINED', 'authentication_required']);
    }
  });

  it('fails at its end when the customer does nothing', async () => {
    const hold = await asked();
    await later(HALF_AN_HOUR_MS - 1);
    assert.match(await shop.books(hold), /AWAITING_CUSTOMER/);
    await later(1);
    assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
    assert.equal((await shop.get(hold)).processorError?.code, 'authentication_expired');
    assert.equal((await fetch(hold.url)).status, 410);
  });

  it('learns by an inquiry at its end that the customer has confirmed', async () => {
    const hold = await asked({ ...CHALLENGE, tokenId: 'tok_sandbox_challenge_lost' });
    await confirm(hold.url, 'pass');
    assert.match(await shop.books(hold), /AWAITING_CUSTOMER/);
    await later();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('is cancelled by a release', async () => {
    const hold = await asked();
    const { preauthorization } = await shop.release(hold);
    assert.equal(preauthorization?.phase, HoldPhase.FAILED);
    assert.equal((await shop.get(hold)).processorError?.code, 'authentication_cancelled');
    await confirm(hold.url, 'pass');
    assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
    assert.equal(stage.oracle.find(hold.requestId)?.errorCode, 'authentication_cancelled');
  });

  it('repeats its first answer under its key, whatever has happened since', async () => {
    const fields = { ...CHALLENGE, idempotencyKey: randomUUID() };
    const first = await shop.place(fields);
    const again = async () => (await shop.place({ ...fields, threeDSecure: ThreeDSecure.AUTOMATIC })).preauthorization;
    assert.deepEqual(await again(), first.preauthorization);
    await confirm(first.preauthorization?.nextAction?.url ?? '', 'pass');
    assert.deepEqual(await again(), first.preauthorization);
    await shop.capture(await shop.get(first.preauthorization ?? assert.fail()), 10_000n);
    assert.deepEqual(await again(), first.preauthorization);
    const otherwise = { ...fields, threeDSecure: ThreeDSecure.CHALLENGE };
    assert.equal(await why(shop.place(otherwise)), 'IDEMPOTENCY_KEY_REUSED');
  });

  it('refuses what cannot be, and stores nothing', async () => {
    const challenge = { threeDSecure: ThreeDSecure.CHALLENGE };
    const token = { tokenId: 'tok_sandbox_ok' };
    const bad: [fields: object, field: string][] = [
      [{ ...token, ...RETURN, customerPresent: false }, 'return_url'],
      [{ ...token, returnUrl: RETURN.returnUrl }, 'return_url'],
      [{ ...token, ...RETURN, returnUrl: 'http://shop.example/done' }, 'return_url'],
      [{ ...token, ...challenge }, 'three_d_secure'],
      [{ ...token, ...challenge, customerPresent: false }, 'three_d_secure'],
      [{ ...token, ...challenge, customerPresent: true }, 'three_d_secure'],
      [{ ...token, ...challenge, ...RETURN, customerPresent: false }, 'three_d_secure'],
      [{ tokenId: undefined, ...challenge, ...RETURN }, 'three_d_secure'],
      [{ ...token, ...RETURN, threeDSecure: ThreeDSecure.UNSPECIFIED }, 'three_d_secure'],
    ];
    for (const [fields, field] of bad) {
      const { reason, violations } = await refusal(shop.place(fields));
      assert.deepEqual([reason, field in violations], ['INVALID_REQUEST', true], JSON.stringify(fields));
    }
    assert.deepEqual(stage.oracle.entries(), []);
    assert.deepEqual(await sql(stage, 'select from hold'), []);
  });

  it('goes on after a restore in the middle', async () => {
    const hold = await asked();
    const goBack = await rememberNow(stage);
    await confirm(hold.url, 'pass');
    await goBack();
    await restored();
    assert.equal(await why(shop.release(hold)), 'RECONCILING');
    await stage.inquire();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('is imported by its event when a restore has lost it', async () => {
    await shop.hold();
    const goBack = await rememberNow(stage);
    const hold = await asked();
    await goBack();
    await restored();
    await confirm(hold.url, 'pass');
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('is imported with its page while it waits, and goes on', async () => {
    await shop.hold();
    const goBack = await rememberNow(stage);
    const [passed, left] = [await asked(), await asked()];
    await goBack();
    await restored();
    const decided = await decideAt(stage, { importing: ['all'] });
    assert.equal(decided.left, 0, decided.lines.join('\n'));
    assert.equal((await shop.get(passed)).nextAction?.url, passed.url);
    await confirm(passed.url, 'pass');
    assert.equal(await shop.books(passed), 'IN_PROGRESS 0/0/10000/0/0');
    await sql(stage, 'update installation set reconciling_since = null');
    await later();
    assert.equal((await shop.get(left)).processorError?.code, 'authentication_expired');
  });
});

describe('step-up when core dies', () => {
  for (const at of ['hold stored', 'hold answered'] as const) {
    const { stage, crash } = useMortalStage();
    const shop = forSuite(() => openMerchant(stage, 'acme'));
    it(`at "${at}" waits for its customer all the same, or never was`, async () => {
      crash.at = at;
      const { preauthorization: hold = assert.fail(), state } = await shop.place(CHALLENGE);
      assert.equal(state, OperationState.UNKNOWN);
      stage.clock.advance(60_000);
      await stage.inquire();
      const now = await shop.get(hold);
      assert.equal(now.phase, at === 'hold stored' ? HoldPhase.FAILED : HoldPhase.AWAITING_CUSTOMER);
      if (at === 'hold stored') return;
      await confirm(now.nextAction?.url ?? '', 'pass');
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    });
  }
});
