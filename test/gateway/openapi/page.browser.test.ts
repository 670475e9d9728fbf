import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { CHROMIUM, openBrowser, openPage, type WatchedPage } from '../console/browser.ts';
import { Stage } from '../stage.ts';

describe('/docs in a browser', () => {
  const stage = new Stage();
  let browser: Browser;
  let watched: WatchedPage;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    await stage.open();
    browser = await openBrowser();
    watched = await openPage(browser, { viewport: { width: 390, height: 844 } });
    await watched.page.goto(`${stage.origin}/`);
  });

  after(async () => {
    await browser?.close();
    if (CHROMIUM !== undefined) await stage.close();
  });

  it('fits a phone of 390 px', async () => {
    assert.equal(new URL(watched.page.url()).pathname, '/docs');
    const width = await watched.page.evaluate('document.documentElement.scrollWidth');
    assert.equal(width, 390);
  });

  it('filters routes by words, and shows all of them again', async () => {
    const { page } = watched;
    const shown = () => page.locator('article:visible').count();
    const all = await shown();
    await page.getByLabel('Search the routes').fill('FINALCAPTURE hold');
    await page.keyboard.press('Enter');
    const some = await shown();
    assert(some > 0 && some < all, `${some} of ${all}`);
    assert(await page.locator('#capturePreauthorization').isVisible());
    assert(!(await page.locator('#signIn').isVisible()));
    assert.equal(await page.locator('nav a[href="#signIn"]').isVisible(), false);
    await page.getByLabel('Search the routes').fill('');
    assert.equal(await shown(), all);
  });

  for (const path of ['/docs', '/docs/merchant', '/docs/refusals']) {
    for (const [device, width, colorScheme] of [
      ['phone', 390, 'dark'],
      ['desktop', 1400, 'light'],
    ] as const) {
      it(`has nothing that axe complains about at ${path}, ${colorScheme}, on a ${device}`, async () => {
        const { page, complaints } = await openPage(browser, { viewport: { width, height: 900 }, colorScheme });
        await page.goto(`${stage.origin}${path}`);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
        await page.evaluate(axe.source);
        const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
        assert.deepEqual(
          violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
          [],
        );
        assert.deepEqual(complaints, []);
      });
    }
  }

  it("leads to the merchants' routes alone, and back", async () => {
    const { page, complaints } = await openPage(browser, { viewport: { width: 390, height: 844 } });
    await page.goto(`${stage.origin}/docs`);
    await page.getByRole('link', { name: 'Routes of merchants' }).click();
    await page.waitForURL(`${stage.origin}/docs/merchant`);
    assert.equal(await page.locator('#createMerchant').count(), 0);
    assert(await page.locator('#capturePreauthorization').isVisible());
    await page.getByRole('link', { name: 'All routes' }).click();
    await page.locator('#createMerchant').waitFor();
    assert.deepEqual(complaints, []);
  });

  it('leads from a route to what a refusal means, and searches the refusals', async () => {
    const { page, complaints } = await openPage(browser, { viewport: { width: 390, height: 844 } });
    await page.goto(`${stage.origin}/docs`);
    await page.locator('#capturePreauthorization').getByRole('link', { name: 'HOLD_FROZEN' }).click();
    await page.waitForURL(`${stage.origin}/docs/refusals#HOLD_FROZEN`);
    const entry = page.locator('#HOLD_FROZEN');
    await entry.getByText('What to do').waitFor();
    const { y = -1 } = (await entry.boundingBox()) ?? {};
    assert(y >= 0 && y < 844, `${y}`);
    await page.getByLabel('Search the refusals').fill('unknown_charge');
    assert.equal(await page.locator('article:visible').count(), 1);
    assert.match((await page.locator('#found').textContent()) ?? '', /^1 of \d+ refusals$/);
    assert.deepEqual(complaints, []);
  });

  it('copies a command, with the address at which it is read, by the keyboard', async () => {
    const { page } = watched;
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('#lesson .sample').nth(1).getByRole('button', { name: 'Copy' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('#lesson').getByRole('button', { name: 'Copied' }).waitFor();
    assert.match(await copied(), new RegExp(`^curl "${stage.origin}/preauthorization" `));
  });

  it('begins with a link over the contents, and the first lesson', async () => {
    const { page } = watched;
    await page.goto(`${stage.origin}/docs`);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content');
    assert(await page.locator('nav a[href="#createPreauthorization"]').isVisible());
    assert.equal(await page.locator('main h2').first().textContent(), 'Your first hold');
  });

  it('violates no policy', () => assert.deepEqual(watched.complaints, []));
});
