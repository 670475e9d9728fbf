import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { CHROMIUM, openBrowser, openPage } from '../../../gateway/console/browser.ts';
import { type Stack, useStack } from '../../../stack.ts';

describe(`the checkout page in a browser${CHROMIUM ? '' : ' (skipped: there is no /usr/bin/chromium)'}`, () => {
  let stack: Stack;
  let browser: Browser;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    stack = await useStack();
    browser = await openBrowser();
  });

  after(async () => browser?.close());

  async function open(currency: string, amount: number) {
    const returnUrl = `${stack.file.demoMerchantUrl}/return`;
    const order = { currency, amount, terminalId: 'till-1', userId: 'ann', returnUrl };
    const { body } = await stack.shop.post('/preauthorization', order);
    const watched = await openPage(browser, { viewport: { width: 360, height: 740 } });
    await watched.page.goto(body.checkoutUrl);
    return { ...watched, requestId: body.requestId as string };
  }

  const type = async (page: Page, ...values: readonly string[]) => {
    await page.getByLabel('Card number').focus();
    for (const value of values) {
      await page.keyboard.type(value);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
  };

  it('accepts a card by keyboard alone, on a phone, and returns the customer to the merchant', async () => {
    const { page, complaints, requestId } = await open('EUR', 2500);
    await page.getByRole('heading', { name: 'Reserve €25.00' }).waitFor();
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
    await type(page, '4242 4242 4242 4242', '08/39', '123');
    await page.waitForURL((url) => url.pathname === '/return' && url.searchParams.get('requestId') === requestId);
    assert.equal((await stack.shop.notified(requestId, 'authorized')).verified, true);
    assert.deepEqual(complaints, []);
  });

  it("shows the amount in the currency's own format, and each error beside its field", async () => {
    const { page } = await open('KWD', 1050);
    await page.getByRole('button', { name: 'Reserve KWD 1.050' }).waitFor();
    await type(page, '4242 4242 4242 4241', '01/20', '12');
    await page.getByRole('alert').waitFor();
    for (const label of ['Card number', 'Expiry date', 'Security code']) {
      const field = page.getByLabel(label);
      assert.equal(await field.getAttribute('aria-invalid'), 'true', label);
      const error = page.locator(`#${await field.getAttribute('name')}-error`);
      assert.match((await error.textContent()) ?? '', /\.$/);
    }
    const focused = await page.evaluate('document.activeElement.name');
    assert.equal(focused, 'number', 'the first wrong field has the focus');
    assert.equal(
      await page.getByLabel('Card number').inputValue(),
      '4242 4242 4242 4241',
      'one digit can be corrected',
    );
  });
});
