/** What an operator does with a hold besides capturing and releasing it. */
import assert from 'node:assert/strict';
import type { Browser, Locator, Page } from 'playwright-core';
import { type Stack, useStack } from '../../stack.ts';
import { CHROMIUM, openBrowser, openPage } from './browser.ts';

describe(`a hold in the console${CHROMIUM ? '' : ' (skipped: there is no /usr/bin/chromium)'}`, () => {
  let stack: Stack;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    stack = await useStack();
    browser = await openBrowser();
    ({ page, complaints } = await openPage(browser));
    await page.goto(`${stack.file.baseUrl}/console`);
    await page.getByLabel('Operator token').fill(stack.file.operatorToken);
    await button('Sign in').click();
    await page.getByRole('banner').waitFor();
  });
  after(async () => browser?.close());

  const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name });
  const heading = (name: string) => page.getByRole('heading', { name }).waitFor();
  const says = (text: string) => page.getByText(text).first().waitFor();

  it('increments, extends and refunds a hold by clicking', async () => {
    const order = { tokenId: 'tok_sandbox_ok', amount: 1050, currency: 'EUR', terminalId: 'till-1', userId: 'ann' };
    const { requestId } = (await stack.shop.post('/preauthorization', order)).body;
    await page.goto(`${stack.file.baseUrl}/console#/holds/${requestId}`);
    const enter = async (amount: string) => {
      await page.getByLabel('Amount in EUR').fill(amount);
      await button('Continue').click();
    };
    await button('Increment…').click();
    await enter('2.50');
    await heading('Increment €2.50?');
    await button('Increment €2.50').click();
    await says('€2.50 was added by increments.');
    await says('Hold of €10.50 asked for');
    await button('Extend…').click();
    await button('Extend', page.getByRole('dialog')).click();
    await says('Extended');
    await button('Capture…').click();
    await page.getByLabel('Reason (optional)').fill('  The parcel has left ');
    await page.getByLabel("Merchant's reference of it (optional)").fill('parcel-1');
    await enter('13.00');
    await page.getByRole('dialog').getByText('Reason: The parcel has left').waitFor();
    await button('Capture €13.00').click();
    await button('Refund… the capture of €13.00').click();
    assert.equal(await page.getByLabel('Amount in EUR').inputValue(), '13.00');
    await enter('4.00');
    await button('Refund €4.00').click();
    await says('€4.00 of what was captured was refunded.');
    await says('Refunded: €4.00');
    const { body } = await stack.shop.get(`/preauthorization/${requestId}`);
    assert.deepEqual([body.amount, body.amountCaptured, body.amountRefunded], [1300, 1300, 400]);
    const [capture] = body.captures;
    assert.deepEqual([capture.reason, capture.merchantReference], ['The parcel has left', 'parcel-1']);
    assert.deepEqual(complaints, []);
  });

  it('says why a hold is released, and in which currency', async () => {
    const order = { tokenId: 'tok_sandbox_ok', amount: 1050, currency: 'JPY', terminalId: 'till-1', userId: 'ann' };
    const { requestId } = (await stack.shop.post('/preauthorization', order)).body;
    await page.goto(`${stack.file.baseUrl}/console#/holds/${requestId}`);
    await button('Release…').click();
    await page.getByLabel('Reason (optional)').fill('Out of stock');
    await button('Continue').click();
    const sent = page.waitForRequest(/\/release$/);
    await button('Release ¥1,050').click();
    assert.deepEqual((await sent).postDataJSON(), { currency: 'JPY', reason: 'Out of stock' });
    await says('¥1,050 released.');
    await says('Out of stock');
    assert.deepEqual(complaints, []);
  });

  it('shows how a card is funded, and with which code its network declined', async () => {
    const order = { amount: 1050, currency: 'EUR', terminalId: 'till-1', userId: 'ann' };
    const refused = await stack.shop.post('/preauthorization', { ...order, tokenId: 'tok_sandbox_insufficient_funds' });
    await page.goto(`${stack.file.baseUrl}/console#/holds/${refused.body.requestId}`);
    await says('visa credit ending in 4242');
    const code = page.getByText("Network's decline code").locator('xpath=following-sibling::*[1]');
    assert.equal(await code.textContent(), '51');
    assert.deepEqual(complaints, []);
  });

  it('lists the authorizations of a hold that renews itself, and says until when', async () => {
    const keepUntil = new Date(Date.now() + 30 * 24 * 3_600_000).toISOString();
    const order = { tokenId: 'tok_sandbox_ok', amount: 1050, currency: 'EUR', terminalId: 'till-1', userId: 'ann' };
    const { requestId, reference } = (await stack.shop.post('/preauthorization', { ...order, keepUntil })).body;
    await page.goto(`${stack.file.baseUrl}/console#/holds/${requestId}`);
    await heading('Authorizations');
    await page.getByRole('table', { name: 'Authorizations, oldest first' }).getByText(reference).waitFor();
    await says('renews itself before');
    await says('What remains is authorized anew before this');
    await says('It no longer renews itself');
    assert.deepEqual(complaints, []);
  });
});
