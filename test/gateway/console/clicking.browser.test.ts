import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type { Browser, Locator, Page } from 'playwright-core';
import { signNotification } from '../../../client/webhooks/signature.ts';
import { type Stack, useStack } from '../../stack.ts';
import { CHROMIUM, openBrowser, openPage } from './browser.ts';

const ORDER = { tokenId: 'tok_sandbox_ok', currency: 'EUR', terminalId: 'till-1', userId: 'ann' };

describe(`the console in a browser${CHROMIUM ? '' : ' (skipped: there is no /usr/bin/chromium)'}`, () => {
  let stack: Stack;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    stack = await useStack();
    browser = await openBrowser();
    ({ page, complaints } = await openPage(browser, { viewport: { width: 1280, height: 900 } }));
  });

  after(async () => browser?.close());

  // The browser reports every refused request as an error; a test that expects a refusal removes it.
  afterEach(() => assert.deepEqual(complaints, []));

  const button = (name: string | RegExp, within: Page | Locator = page) => within.getByRole('button', { name });
  const heading = (name: string | RegExp) => page.getByRole('heading', { name }).waitFor();
  const says = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const go = (path: string) => page.goto(`${stack.file.baseUrl}/console#/${path}`);
  const place = async (amount: number) => {
    const { status, body } = await stack.shop.post('/preauthorization', { ...ORDER, amount });
    assert.equal(status, 201);
    return body.requestId as string;
  };

  async function signIn(): Promise<void> {
    await page.getByLabel('Operator token').fill(stack.file.operatorToken);
    await page.getByLabel('Your name').fill('Grace');
    await button('Sign in').click();
    await page.getByRole('banner').waitFor();
  }

  it('refuses a wrong token, beside the field', async () => {
    await page.goto(`${stack.file.baseUrl}/console`);
    const field = page.getByLabel('Operator token');
    assert(await field.evaluate((input) => input.ownerDocument.activeElement === input), 'the field has the focus');
    await field.fill('x'.repeat(43));
    await button('Sign in').click();
    await page.locator('.error', { hasText: 'not the operator token' }).waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    assert.match(complaints.splice(0).join(), /^Failed to load resource:[^,]* 401 [^,]*$/);
  });

  it('signs in, and stores the token nowhere', async () => {
    await signIn();
    await heading('Overview');
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
    assert(!String(kept).includes(stack.file.operatorToken));
    assert.equal(kept, '[{"holdfast-signed-in":"yes"},{},""]');
    const [cookie] = await page.context().cookies(`${stack.file.baseUrl}/operator`);
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict']);
  });

  it('shows operations as they happen', async () => {
    await says('live');
    const requestId = await place(777);
    const line = page.locator('.live li', { has: page.locator(`[title="${requestId}"]`) });
    await line.waitFor();
    assert.match((await line.textContent()) ?? '', /OK.*Hold authorized.*€7\.77.*demo/);
  });

  it('drives a hold to a delivered notification by clicking', async () => {
    const requestId = await place(1050);
    await page.getByRole('link', { name: 'Holds', exact: true }).click();
    await heading('Holds');
    await page.getByLabel('Request ID').fill(requestId);
    await button('Search').click();
    await says('1 found');
    await page.getByRole('cell').getByRole('link').click();
    await heading('Hold');
    await says('Authorized: €10.50');
    await button('Capture…').click();
    const amount = page.getByLabel('Amount in EUR');
    assert.equal(await amount.inputValue(), '10.50');
    for (const [typed, complaint] of [
      ['4,00', 'Write the amount in EUR like 4.00.'],
      ['10.51', 'No more than €10.50 is possible.'],
    ] as const) {
      await amount.fill(typed);
      await button('Continue').click();
      await page.locator('dialog .error', { hasText: complaint }).waitFor();
    }
    await amount.fill('4.00');
    await button('Continue').click();
    await heading('Capture €4.00?');
    await says('€6.50 remains, unless the contract allows one capture only');
    await button('Capture €4.00').click();
    await says('€4.00 captured.');
    const story = page.locator('.timeline > li', { hasText: 'Notification “captured” to the webhook endpoint' });
    await story.filter({ hasText: 'Delivered' }).waitFor();
    assert.match((await story.textContent()) ?? '', /Attempt 1.*HTTP 200/);
    const [notification] = await stack.shop.received(await captureOf(requestId));
    assert.deepEqual([notification?.statusInfo, notification?.verified], ['captured', true]);
  });

  async function captureOf(requestId: string): Promise<string> {
    const { body } = await stack.shop.get(`/preauthorization/${requestId}`);
    return body.captures[0].requestId;
  }

  it('shows refusals, and returns the focus when a dialog is closed', async () => {
    const requestId = await place(1050);
    await go(`holds/${requestId}`);
    await button('Capture…').click();
    await button('Continue').click();
    const { body } = await stack.shop.post('/preauthorization/release', { requestId });
    assert.equal(body.status, 'RELEASED');
    await button('Capture €10.50').click();
    await says('The hold was released');
    assert.match(complaints.splice(0).join(), /409/);
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  it('works with the keyboard alone', async () => {
    await go(`holds/${await place(500)}`);
    const opener = button('Release…');
    await opener.focus();
    await page.keyboard.press('Enter');
    await heading('Release');
    const inside = 'document.querySelector("dialog").contains(document.activeElement)';
    for (let presses = 0; presses < 4; presses += 1) {
      assert(
        await page.evaluate(`${inside} || document.activeElement === document.body`),
        'the dialog keeps the focus',
      );
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert(await opener.evaluate((element) => element.ownerDocument.activeElement === element));
  });

  it('releases a part of a hold, then the rest', async () => {
    await button('Release…').click();
    await page.getByLabel('Amount in EUR').fill('2');
    await button('Continue').click();
    await says('€3.00 remains, where the processor gives a part back.');
    await button('Release €2.00').click();
    await says('€2.00 released.');
    await says('Notification “partially_released” to the webhook endpoint');
    await button('Release…').click();
    await button('Continue').click();
    await button('Release €3.00').click();
    await says('€3.00 released.');
    await says('Notification “released” to the webhook endpoint');
  });

  it('sends a delivery again', async () => {
    await page.getByRole('link', { name: 'Notification “authorized” to the webhook endpoint' }).click();
    await heading('Delivery');
    await says('Attempt 1');
    await button('Replay…').click();
    await button('Replay', page.getByRole('dialog')).click();
    await says('The delivery is sent again.');
    await says('Attempt 2');
  });

  it('creates a merchant and rotates its signing secret; each secret is shown once', async () => {
    await page.getByRole('link', { name: 'Merchants', exact: true }).click();
    await button('New merchant…').click();
    const merchantId = `console-${randomBytes(4).toString('hex')}`;
    for (const [label, value] of [
      ['Merchant ID', merchantId],
      ['Name', 'Console shop'],
      ['Currencies', 'eur, JPY'],
      ['Terminals', 'till-1'],
    ] as const)
      await page.getByLabel(label, { exact: true }).fill(value);
    await button('Create').click();
    const secrets = page.locator('.secret');
    await secrets.first().waitFor();
    assert.match((await secrets.allInnerTexts()).join(' '), /^hf_[\w-]{43} whsec_[\w+/]{43}=$/);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stack.file.baseUrl });
    await button('Copy the API key').click();
    await says('Copied.');
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), await secrets.first().textContent());
    await keepSecret();
    await page.getByRole('link', { name: merchantId }).click();
    await button('New signing secret…').click();
    await button('Create').click();
    await secrets.waitFor();
    const secret = (await secrets.textContent()) ?? '';
    assert.match(secret, /^whsec_/);
    await keepSecret();
    await page.getByRole('row', { name: /live/ }).nth(2).waitFor();
    assert(!(await page.content()).includes(secret));
    await button(/^Retire the signing secret/)
      .first()
      .click();
    await button('Retire', page.getByRole('dialog')).click();
    await says(/The signing secret …\w{12} is retired\./);
    await page.getByLabel('Hold period in days').fill('2.5');
    await button('Save the contract').click();
    await says('The contract is saved.');
    await page.reload();
    await page.getByLabel('Hold period in days').waitFor();
    assert.equal(await page.getByLabel('Hold period in days').inputValue(), '2.5');
    await pauseAndResume(merchantId);
  });

  async function keepSecret(): Promise<void> {
    await page.getByLabel('I have stored it').check();
    await button('Close', page.getByRole('dialog')).click();
  }

  async function pauseAndResume(merchantId: string): Promise<void> {
    await page.getByRole('link', { name: 'Endpoints' }).click();
    await button('Pause endpoint…').click();
    await page.getByLabel('Merchant').fill(merchantId);
    await button('Pause endpoint', page.getByRole('dialog')).click();
    await button(`Resume the webhook endpoint of ${merchantId}`).click();
    await button('Resume endpoint', page.getByRole('dialog')).click();
    await says(`Deliveries to the webhook endpoint of ${merchantId} go on.`);
  }

  it('lists what the relay refused, and decides on quarantined notifications', async () => {
    const fields = {
      merchantId: stack.file.merchantId,
      requestId: randomUUID(),
      status: 'KO',
      amount: '10.50',
      currency: 'EUR',
    };
    const body = JSON.stringify({ ...fields, reference: 'ref-1', finalStateDate: new Date().toISOString() });
    const send = (signature: string) =>
      stack.shop.post('/webhook/processor/payment/captured', body, { 'x-service-signature': signature });
    assert.equal((await send(randomBytes(32).toString('base64'))).status, 401);
    assert.equal((await send(signNotification(stack.file.signingSecret, fields))).status, 202);
    await go('quarantine');
    await button(`Discard ${fields.requestId}`).click();
    await button('Discard', page.getByRole('dialog')).click();
    await says('The notification is discarded.');
    await go('relay');
    const refused = page.getByRole('cell', { name: 'Wrong signature' }).first();
    // They are reported in batches.
    while ((await refused.count()) === 0) {
      await page.getByRole('link', { name: 'Clear' }).waitFor();
      await page.reload();
      await page
        .getByText(/found|Nothing was refused/)
        .first()
        .waitFor();
    }
    await says('By source');
  });

  it('shows both sides of a conflict, and forwards an accepted notification again', async () => {
    const { merchantId, signingSecret } = stack.file;
    const requestId = `accepted-${randomUUID()}`;
    const send = (amount: string) => {
      const fields = { merchantId, requestId, status: 'OK', amount, currency: 'EUR' };
      const body = JSON.stringify({ ...fields, reference: 'r', finalStateDate: new Date().toISOString() });
      const signature = signNotification(signingSecret, fields);
      return stack.shop.post('/webhook/processor/payment/captured', body, { 'x-service-signature': signature });
    };
    assert.equal((await send('10.50')).status, 200);
    assert.equal((await send('10.51')).status, 202);
    await stack.shop.notified(requestId);
    await go('quarantine');
    await says(/payment\/captured OK 10\.51 EUR\s*Accepted: payment\/captured OK 10\.50 EUR/);
    await go('notifications');
    await button(`Replay ${requestId}`).click();
    await button('Replay', page.getByRole('dialog')).click();
    await says('The notification is forwarded.');
    while ((await stack.shop.notified(requestId)).duplicateCount === 0) await page.waitForTimeout(100);
    assert.equal((await stack.shop.notified(requestId)).duplicateCount, 1);
  });

  it('shows who did what in the audit log', async () => {
    await page.getByRole('link', { name: 'Audit log', exact: true }).click();
    await page.getByRole('cell', { name: 'operator/Grace' }).first().waitFor();
  });

  it('says when the gateway is down, and continues when it is back', async () => {
    await page.route('**/operator/holds*', (route) => route.abort());
    await go('holds');
    await page.getByRole('alert').getByText('The gateway cannot be reached').waitFor();
    complaints.splice(0);
    await page.unroute('**/operator/holds*');
    await button('Try again').click();
    await says(/found|The first/);
  });

  it('fits on a phone', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    const hold = await place(1050);
    for (const path of [
      '',
      'holds',
      `holds/${hold}`,
      'deliveries',
      'endpoints',
      'relay',
      'notifications',
      'quarantine',
      'reviews',
      'merchants',
      'merchants/demo',
      'audit',
    ]) {
      await go(path);
      await page.locator('.loaded').first().waitFor();
      const [wide, room] = (await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as number[];
      assert(wide !== undefined && room !== undefined && wide <= room, `${path} is ${wide} wide in ${room}`);
    }
    await button('Menu').click();
    await page.getByRole('link', { name: 'Holds', exact: true }).click();
    await heading('Holds');
  });

  it('asks for the token again when the session has expired', async () => {
    await page.locator('.loaded').waitFor();
    await page.getByText('Search', { exact: true }).first().click();
    await page.getByLabel('User').fill('ann');
    await page.context().clearCookies();
    await button('Search').click();
    await says('Your session is over.');
    assert.match(complaints.splice(0).join(), /401/);
    await signIn();
    await heading('Holds');
  });

  it('signs out', async () => {
    await button('Menu').click();
    await button('Sign out').click();
    await page.getByLabel('Operator token').waitFor();
    await page.reload();
    await page.getByLabel('Operator token').waitFor();
  });
});
