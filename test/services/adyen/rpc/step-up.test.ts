import assert from 'node:assert/strict';
import { Finding } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../suite.ts';
import { answerIssuer, goOn, open } from '../fake/customer.ts';
import { captureRequest, voidRequest } from '../fixture.ts';
import { asked, HALF_AN_HOUR_MS, PAGE_ORIGIN, RETURN_URL, said, startStepUps, stepUps } from '../step-up-fixture.ts';

describe('authorize() with a return URL at Adyen', () => {
  const fixture = forSuite(startStepUps);
  const { at, paymentsOf, waiting, toIssuer, inquire, told } = stepUps(fixture);
  const backOf = ({ requestId }: { requestId: string }) => `${RETURN_URL}&requestId=${requestId}`;

  it('waits for the customer on a page, as Describe says, the same when it is asked again, and sends nothing', async () => {
    assert.equal((await fixture.client.describe({})).stepUp, true);
    const hold = asked();
    const { result } = await waiting(hold);
    assert.deepEqual((await fixture.client.authorize({ ...hold, returnUrl: 'https://shop.example' })).result, result);
    const { finding, result: found, fenced } = await inquire(hold);
    assert.deepEqual([finding, found, fenced], [Finding.AT_WORK, result, false]);
    await fixture.restart();
    assert.deepEqual((await inquire(hold)).result, result);
    assert.deepEqual(paymentsOf(hold), []);
    const { result: refused } = await fixture.client.capture(captureRequest(hold));
    assert.deepEqual(said(refused), ['NOT_PERFORMED', 'authorization_not_ended']);
  });

  it("sends Adyen what the customer's browser says, once, and the customer to the issuer", async () => {
    const hold = asked();
    const { page } = await waiting(hold);
    await toIssuer(page);
    const [{ body } = {}, ...more] = paymentsOf(hold);
    assert.deepEqual(more, []);
    assert.deepEqual(body?.browserInfo, {
      colorDepth: 24,
      javaEnabled: false,
      javaScriptEnabled: true,
      language: 'nl-NL',
      screenHeight: 1080,
      screenWidth: 1920,
      timeZoneOffset: -60,
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
      acceptHeader: 'text/html,*/*;q=0.8',
    });
    assert.deepEqual(
      [body?.channel, body?.origin, body?.shopperIP, body?.shopperInteraction, body?.recurringProcessingModel],
      ['Web', PAGE_ORIGIN, '127.0.0.1', 'Ecommerce', 'CardOnFile'],
    );
    assert.equal(at(body?.returnUrl ?? ''), `${page}/return`);
    assert.equal(body?.authenticationData, undefined);
  });

  it('is approved when the customer has come back, told once, and captured', async () => {
    for (const notify of ['before', 'after'] as const) {
      const hold = asked();
      const { page } = await waiting(hold);
      const back = await answerIssuer(await toIssuer(page), 'confirm');
      if (notify === 'before') await fixture.notify();
      assert.deepEqual(await open(at(back)).then(({ status, location }) => [status, location]), [303, backOf(hold)]);
      if (notify === 'after') await fixture.notify();
      const { finding, result } = await inquire(hold);
      assert.deepEqual([finding, ...said(result), result?.nextAction], [Finding.DONE, 'APPROVED', '', undefined]);
      assert.deepEqual(await told(hold), [result]);
      assert.deepEqual((await fixture.client.authorize(hold)).result, result);
      await fixture.captured(hold);
      assert.equal((await fixture.books(hold)).captured, 10_000n);
      assert.equal(paymentsOf(hold).length, 1);
      assert.match((await open(page)).page, /is reserved/);
    }
  });

  it('says what 3-D Secure came to', async () => {
    const hold = asked();
    await open(at(await answerIssuer(await toIssuer((await waiting(hold)).page), 'confirm')));
    assert.equal((await inquire(hold)).result?.card?.threeDSecure, 'authenticated');
  });

  for (const [token, does, code] of [
    ['stored_challenge', 'refuse', 'authentication_failed'],
    ['stored_challenge_poor', 'confirm', 'not_enough_balance'],
  ] as const) {
    it(`is declined ${code}, whether the customer or the notification comes first`, async () => {
      for (const isNotified of [true, false]) {
        const hold = asked(token);
        const back = await answerIssuer(await toIssuer((await waiting(hold)).page), does);
        if (isNotified) await fixture.notify();
        assert.equal((await open(at(back))).location, backOf(hold));
        await fixture.notify();
        const { result } = await inquire(hold);
        assert.deepEqual(said(result), ['DECLINED', code]);
        assert.deepEqual(await told(hold), [result]);
      }
    });
  }

  it('leads the customer back at once where the issuer asks for nothing, or says no', async () => {
    for (const [token, ...end] of [
      ['stored_ok', 'APPROVED', ''],
      ['stored_refused', 'DECLINED', 'not_enough_balance'],
      ['no_such_card', 'NOT_PERFORMED', 'token_invalid'],
    ] as const) {
      const hold = asked(token);
      const { location } = await goOn((await waiting(hold)).page);
      assert.equal(location, backOf(hold));
      const { result } = await inquire(hold);
      assert.deepEqual(said(result), end);
      assert.deepEqual(await told(hold), [result]);
    }
  });

  it('has any card authenticated when the merchant asks for it', async () => {
    const hold = asked('stored_ok', true);
    await toIssuer((await waiting(hold)).page);
    assert.equal(paymentsOf(hold)[0]?.body.authenticationData?.attemptAuthentication, 'always');
  });

  it('waits for the notification where Adyen says no more than that it has the payment', async () => {
    const hold = asked('stored_challenge_pending');
    const back = await answerIssuer(await toIssuer((await waiting(hold)).page), 'confirm');
    assert.equal((await open(at(back))).location, backOf(hold));
    const { finding, result } = await inquire(hold);
    assert.deepEqual([finding, result?.nextAction], [Finding.AT_WORK, undefined]);
    await fixture.notify();
    assert.deepEqual(said((await inquire(hold)).result), ['APPROVED', '']);
  });

  it('is closed by a void, before and after the customer went on; what is authorised later is told, to be voided', async () => {
    for (const isAtIssuer of [false, true]) {
      const hold = asked();
      const { page } = await waiting(hold);
      const issuer = isAtIssuer ? await toIssuer(page) : '';
      const stranger = { ...voidRequest(hold), merchantId: 'other' };
      assert.equal((await fixture.client.void(stranger)).result?.errorCode, 'authorization_mismatch');
      const { result: closed } = await fixture.client.void(voidRequest(hold));
      assert.deepEqual([...said(closed), closed?.amountReleased], ['APPROVED', '', 0n]);
      const { result } = await inquire(hold);
      assert.deepEqual(said(result), ['NOT_PERFORMED', 'authentication_cancelled']);
      assert.deepEqual(await told(hold), [result]);
      assert.deepEqual([(await goOn(page)).location, paymentsOf(hold).length], [backOf(hold), isAtIssuer ? 1 : 0]);
      assert.deepEqual(said((await fixture.client.void(voidRequest(hold))).result), ['APPROVED', '']);
      if (!isAtIssuer) continue;
      assert.match((await open(page)).page, /given back/);
      assert.equal((await open(at(await answerIssuer(issuer, 'confirm')))).location, backOf(hold));
      await fixture.notify();
      assert.deepEqual((await told(hold)).map(said), [
        ['NOT_PERFORMED', 'authentication_cancelled'],
        ['APPROVED', ''],
      ]);
      await fixture.client.void(voidRequest(hold));
      await fixture.notify();
      assert.equal(fixture.paymentOf(hold).cancelled, true);
      assert.equal((await fixture.books(hold)).voided, 10_000n);
    }
  });

  it('is over when Adyen says that the customer never finished', async () => {
    const hold = asked();
    const issuer = await toIssuer((await waiting(hold)).page);
    const pspReference = issuer.split('/').at(-1) ?? '';
    const amount = { value: 10_000, currency: 'EUR' };
    const about = { originalReference: '', merchantReference: hold.requestId, pspReference, amount };
    const unfinished = { pspReference, reference: hold.requestId, token: '', currency: 'EUR', authorised: 10_000 };
    const payment = { ...unfinished, captured: 0, refunded: 0, cancelled: false, expired: false };
    fixture.adyen.notify('OFFER_CLOSED', payment, about);
    await fixture.notify();
    assert.deepEqual(said((await inquire(hold)).result), ['NOT_PERFORMED', 'authentication_expired']);
  });

  it('refuses a way back that is none', async () => {
    const { result } = await fixture.client.authorize({ ...asked(), returnUrl: 'http://shop.example/done' });
    assert.deepEqual(said(result), ['NOT_PERFORMED', 'return_url_invalid']);
  });

  for (const fault of ['lost', 'answerLost', 'failed'] as const) {
    it(`finds the issuer's page, and how it ended, after an answer did not come (${fault}), also across a restart`, async () => {
      const hold = asked();
      const { page } = await waiting(hold);
      fixture.adyen.faults.push(fault);
      assert.match((await goOn(page)).page, /No answer yet/);
      await fixture.restart();
      const again = at((await inquire(hold)).result?.nextAction?.url ?? '');
      const back = await answerIssuer(await toIssuer(again), 'confirm');
      fixture.adyen.faults.push(fault);
      assert.equal((await open(at(back))).location, backOf(hold));
      await fixture.restart();
      fixture.advance(11_000);
      await fixture.adapter.sendAgain();
      assert.deepEqual(said((await inquire(hold)).result), ['APPROVED', '']);
      assert.equal(new Set(paymentsOf(hold).map(({ key }) => key)).size, 1);
      assert.equal(fixture.paymentOf(hold).authorised, 10_000);
    });
  }

  it('keeps nothing of the browser, nor of the issuer, after its end', async () => {
    const hold = asked();
    await open(at(await answerIssuer(await toIssuer((await waiting(hold)).page), 'confirm')));
    await fixture.sql(`DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM adyen.entry
      WHERE answer NOT IN (0, 4) AND (browser IS NOT NULL OR action IS NOT NULL OR redirect_result <> '')); END $$`);
  });

  it('refuses a void while Adyen has not answered, and closes nothing', async () => {
    const hold = asked();
    const { page } = await waiting(hold);
    fixture.adyen.faults.push('lost', 'lost');
    await goOn(page);
    const { result } = await fixture.client.void(voidRequest(hold));
    assert.deepEqual(said(result), ['NOT_PERFORMED', 'authorization_not_ended']);
    await toIssuer(page);
    assert.equal((await fixture.client.void(voidRequest(hold))).result?.errorCode, '');
  });
});

describe('the time of a step-up at Adyen', () => {
  const fixture = forSuite(startStepUps);
  const { paymentsOf, waiting, toIssuer, inquire, told } = stepUps(fixture);

  it('is over when its time is over; a customer at the issuer has ten minutes more', async () => {
    const [unopened, atIssuer] = [asked(), asked()];
    const { page } = await waiting(unopened);
    const { page: other } = await waiting(atIssuer);
    fixture.advance(HALF_AN_HOUR_MS - 60_000);
    await toIssuer(other);
    fixture.advance(61_000);
    assert.equal((await open(page)).status, 410);
    await fixture.adapter.sendAgain();
    const { result } = await inquire(unopened);
    assert.deepEqual(said(result), ['NOT_PERFORMED', 'authentication_expired']);
    assert.deepEqual(await told(unopened), [result]);
    assert.deepEqual([(await goOn(page)).status, paymentsOf(unopened)], [303, []]);
    assert.equal((await inquire(atIssuer)).finding, Finding.AT_WORK);
    fixture.advance(10 * 60_000);
    assert.deepEqual(said((await inquire(atIssuer)).result), ['NOT_PERFORMED', 'authentication_expired']);
  });
});
