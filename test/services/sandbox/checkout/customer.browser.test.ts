import assert from 'node:assert/strict';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { CHROMIUM, openBrowser, openPage } from '../../../gateway/console/browser.ts';
import { type Fixture, startFixture } from '../fixture.ts';
import { entryOf } from './browse.ts';
import { opened } from './states.ts';

describe(`a customer at the checkout page${CHROMIUM ? '' : ' (skipped: there is no /usr/bin/chromium)'}`, () => {
  let fixture: Fixture;
  let browser: Browser;
  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    fixture = await startFixture();
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await fixture?.close();
  });

  async function visit(options: BrowserContextOptions = {}, terms: Parameters<typeof opened>[1] = { returnUrl: '' }) {
    const checkout = await opened(fixture, terms);
    const watched = await openPage(browser, { viewport: { width: 390, height: 844 }, ...options });
    await watched.page.goto(checkout.url);
    return { ...checkout, ...watched };
  }
  async function enter(page: Page, number: string): Promise<void> {
    await page.locator('#number').pressSequentially(number);
    await page.locator('#expiry').fill('08/39');
    await page.locator('#cvc').fill('123');
    await page.locator('[data-card] button').click();
  }
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

  for (const javaScriptEnabled of [true, false]) {
    it(`tries another card, and may reload the result ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
      const { page, requestId, url } = await visit({ javaScriptEnabled });
      await enter(page, '4000000000000002');
      await page.getByRole('alert').getByText('0002').waitFor();
      assert.equal(await page.locator('#number').inputValue(), '');
      assert.equal(await page.locator('#cvc').inputValue(), '');
      assert.equal(await page.locator('#expiry').inputValue(), '08/39');
      await enter(page, '4242424242424242');
      await heading(page, 'Reserved');
      const { reference } = entryOf(fixture, requestId);
      for (const _ of ['once', 'twice']) {
        await page.reload();
        await heading(page, 'Reserved');
      }
      await page.goBack();
      await page.goto(url);
      await heading(page, 'Reserved');
      assert.equal(entryOf(fixture, requestId).reference, reference);
    });
  }

  it('sees digits in groups of four while typing, wherever the caret is', async () => {
    const { page, complaints } = await visit();
    const number = page.locator('#number');
    const caret = () => page.evaluate('document.activeElement.selectionStart');
    await number.pressSequentially('42424');
    assert.deepEqual([await number.inputValue(), await caret()], ['4242 4', 6]);
    await number.pressSequentially('24242424242');
    assert.equal(await number.inputValue(), '4242 4242 4242 4242');
    for (let index = 0; index < 14; index += 1) await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('9');
    assert.deepEqual([await number.inputValue(), await caret()], ['4242 9424 2424 2424 2', 6]);
    await page.keyboard.press('Backspace');
    assert.equal(await number.inputValue(), '4242 4242 4242 4242');
    await number.fill('');
    await number.fill('5555-5555-5555-4444');
    assert.equal(await number.inputValue(), '5555 5555 5555 4444');
    assert.deepEqual(complaints, []);
  });

  it('reads times in their own time zone', async () => {
    const { page } = await visit({ timezoneId: 'America/New_York' });
    assert.match((await page.locator('time').textContent()) ?? '', /^8:30\sPM /, '00:30 UTC in New York');
    const unscripted = await visit({ timezoneId: 'America/New_York', javaScriptEnabled: false });
    assert.match((await unscripted.page.locator('time').textContent()) ?? '', /^12:30\sAM UTC$/);
  });

  it('clicks twice and pays once', async () => {
    const { page, requestId } = await visit();
    await page.locator('#number').fill('4242424242424242');
    await page.locator('#expiry').fill('08/39');
    await page.locator('#cvc').fill('123');
    let posts = 0;
    page.on('request', (request) => {
      if (request.method() === 'POST') posts += 1;
    });
    await page.locator('[data-card] button').dblclick({ noWaitAfter: true });
    await heading(page, 'Reserved');
    assert.equal(posts, 1);
    assert.equal(entryOf(fixture, requestId).answer, Answer.APPROVED);
  });

  it('confirms with the bank, after declining once', async () => {
    const { page } = await visit();
    for (const answer of ['Refuse', 'Confirm']) {
      await enter(page, '4000000000003220');
      await heading(page, 'Confirm with your bank');
      await page.reload();
      await page.getByRole('button', { name: answer }).click();
      if (answer === 'Refuse') await page.getByRole('alert').getByText('was not confirmed').waitFor();
    }
    await heading(page, 'Reserved');
  });

  it('cancels, and returns to the merchant', async () => {
    const { page, requestId } = await visit({}, { returnUrl: 'https://shop.example/back' });
    await page.route('https://shop.example/**', (route) => route.fulfill({ body: 'the shop' }));
    await page.getByRole('button', { name: 'Cancel and return to Acme' }).click();
    await page.waitForURL(`https://shop.example/back?requestId=${requestId}`);
    assert.equal(entryOf(fixture, requestId).errorCode, 'checkout_cancelled');
  });
});
