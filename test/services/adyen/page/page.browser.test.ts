import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { freePort } from '../../../../services/quickstart/ports.ts';
import { CHROMIUM, openBrowser, openPage } from '../../../gateway/console/browser.ts';
import { type Fixture, inquiryOf, startFixture } from '../fixture.ts';
import { asked, RETURN_URL, said } from '../step-up-fixture.ts';

describe(`the step-up page in a browser${CHROMIUM ? '' : ' (skipped: there is no /usr/bin/chromium)'}`, () => {
  let fixture: Fixture;
  let browser: Browser;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    const port = `${await freePort()}`;
    fixture = await startFixture({ ADYEN_PAGE_ORIGIN: `http://127.0.0.1:${port}`, ADYEN_PAGE_PORT: port });
    browser = await openBrowser();
  });

  after(async () => {
    await browser?.close();
    await fixture?.close();
  });

  for (const token of ['stored_challenge', 'stored_challenge_post']) {
    it(`leads the customer by way of the issuer back to the merchant, and tells Adyen of the browser (${token})`, async () => {
      const hold = asked(token);
      const { result } = await fixture.client.authorize(hold);
      const { page, complaints } = await openPage(browser, { viewport: { width: 360, height: 740 } });
      await page.route('https://shop.example/**', (route) => route.fulfill({ body: 'Thank you' }));
      await page.goto(result?.nextAction?.url ?? '');
      await page.getByRole('heading', { name: 'Confirm €100.00 with your bank' }).waitFor();
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
      await page.getByRole('button', { name: 'Continue to your bank' }).press('Enter');
      await page.getByRole('link', { name: 'Confirm' }).click();
      await page.waitForURL(`${RETURN_URL}&requestId=${hold.requestId}`);
      assert.deepEqual(complaints, []);
      const { body } = fixture.adyen.requests.find(({ body }) => body.reference === hold.requestId) ?? {};
      assert.deepEqual(
        [body?.browserInfo?.screenWidth, body?.browserInfo?.screenHeight, body?.browserInfo?.javaScriptEnabled],
        [360, 740, true],
      );
      assert.match(String(body?.browserInfo?.userAgent), /Chrome/);
      const { result: found } = await fixture.client.inquire(inquiryOf(hold));
      assert.deepEqual(said(found), ['APPROVED', '']);
      await page.close();
    });
  }

  it('says without JavaScript what it needs', async () => {
    const { result } = await fixture.client.authorize(asked());
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(result?.nextAction?.url ?? '');
    assert.equal(await page.getByRole('button').isDisabled(), true);
    assert.match(await page.content(), /<noscript>.*Turn JavaScript on to continue/);
    await context.close();
  });
});
