/** Checks every page of the console with axe, on a phone and on a desktop, light and dark. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { signNotification } from '../../../client/webhooks/signature.ts';
import { type Stack, useStack } from '../../stack.ts';
import { CHROMIUM, openBrowser, openPage } from './browser.ts';

const ORDER = { tokenId: 'tok_sandbox_ok', currency: 'EUR', terminalId: 'till-1', userId: 'ann' };
/** Set to a folder to save screenshots of the pages there. */
const { PICTURES } = process.env;

describe(`the pages of the console${CHROMIUM ? '' : ' (skipped: there is no /usr/bin/chromium)'}`, () => {
  let stack: Stack;
  let browser: Browser;
  const pages: string[] = [
    '',
    'holds',
    'operations',
    'deliveries',
    'endpoints',
    'relay',
    'notifications',
    'quarantine',
  ];
  let reference: string;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    stack = await useStack();
    browser = await openBrowser();
    const { shop, file } = stack;
    reference = `axe-${randomUUID().slice(0, 8)}`;
    const { body: hold } = await shop.post('/preauthorization', {
      ...ORDER,
      amount: 1050,
      merchantReference: reference,
    });
    const { preauthorizationId } = hold;
    const { body: capture } = await shop.post('/preauthorization/authorization', {
      preauthorizationId,
      amountToCapture: 400,
    });
    await shop.post('/preauthorization/increment', { preauthorizationId, amountToAdd: 250 });
    await shop.post('/preauthorization/extend', { preauthorizationId });
    await shop.post('/refund', { captureRequestId: capture.requestId, amount: 150 });
    await shop.post('/oct', { ...ORDER, amount: 700, merchantReference: `${reference}-oct` });
    await shop.notified(capture.requestId);
    const operator = (path: string, method = 'GET', body?: object) =>
      fetch(`${file.baseUrl}/operator${path}`, {
        method,
        headers: { authorization: `Bearer ${file.operatorToken}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }).then((response) => response.json() as Promise<{ items: { deliveryId: string }[] }>);
    const { items } = await operator(`/deliveries?requestId=${capture.requestId}&endpointKind=WEBHOOK`);
    const merchantId = `axe-${randomUUID().slice(0, 8)}`;
    const terms = { currencies: ['EUR'], terminals: ['till-1'], allowMultipleCaptures: true, allowOct: true };
    const contract = { ...terms, webhookUrl: 'https://10.0.0.1' };
    await operator('/merchants', 'POST', { merchantId, name: 'Axe', contract });
    await operator(`/endpoints/${merchantId}/webhook/pause`, 'POST', {});
    const send = (amount: string) => {
      const fields = { merchantId: file.merchantId, requestId: reference, status: 'OK', amount, currency: 'EUR' };
      const text = JSON.stringify({ ...fields, reference: 'r', finalStateDate: new Date().toISOString() });
      const signature = signNotification(file.signingSecret, fields);
      return shop.post('/webhook/processor/payment/captured', text, { 'x-service-signature': signature });
    };
    await send('10.50');
    await send('10.51');
    // A failure, so that the page of failures has its sums.
    const claim = { merchantId: file.merchantId, requestId: reference, status: 'OK', amount: '1', currency: 'EUR' };
    await shop.post('/webhook/processor/payment/captured', JSON.stringify(claim), { 'x-service-signature': 'none' });
    pages.push('reviews', 'merchants', `merchants/${merchantId}`, 'audit');
    pages.push(`holds/${hold.requestId}`, `operations/${capture.requestId}`, `deliveries/${items[0]?.deliveryId}`);
  });
  after(async () => browser?.close());

  /** Returns what axe finds in a page, one line for each element. */
  async function findings(page: Page): Promise<string[]> {
    const { violations, passes } = await page.evaluate<axe.AxeResults>('axe.run()');
    assert(passes.length > 5, 'axe checked the page');
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport] of [
      ['phone', { width: 390, height: 844 }],
      ['desktop', { width: 1280, height: 900 }],
    ] as const) {
      it(`are accessible and fit, on a ${size}, ${colorScheme}`, async () => {
        const { page, complaints } = await openPage(browser, { viewport, colorScheme });
        const found: string[] = [];
        const inspect = async (name: string) => {
          found.push(...(await findings(page)).map((finding) => `${name}: ${finding}`));
          const [wide, room] = (await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as [
            number,
            number,
          ];
          if (wide > room) found.push(`${name} is ${wide} wide in ${room}`);
          const path = `${PICTURES}/${name.replaceAll('/', '-').slice(0, 16)}-${size}-${colorScheme}.png`;
          if (PICTURES) await page.screenshot({ path });
        };
        await page.goto(`${stack.file.baseUrl}/console`);
        await page.evaluate(axe.source);
        await inspect('login');
        await page.getByLabel('Operator token').fill(stack.file.operatorToken);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('banner').waitFor();
        for (const name of pages) {
          await page.goto(`${stack.file.baseUrl}/console#/${name}`);
          await page.locator('.loaded').first().waitFor({ state: 'attached' });
          await page.locator('.loading').first().waitFor({ state: 'detached' });
          await inspect(name || 'overview');
        }
        if (size === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
        await page.getByLabel('Find anything').fill(reference);
        await page.keyboard.press('Enter');
        await page.getByText('2 found').waitFor();
        await inspect('search');
        await page.goto(`${stack.file.baseUrl}/console#/${pages.find((name) => name.startsWith('holds/'))}`);
        for (const act of ['Capture…', 'Increment…', 'Extend…', 'Refund…']) {
          await page.getByRole('button', { name: act }).click();
          await inspect(act);
          await page.getByRole('button', { name: 'Back' }).click();
        }
        assert.deepEqual(found, []);
        assert.deepEqual(complaints, []);
        await page.context().close();
      });
    }
  }
});
