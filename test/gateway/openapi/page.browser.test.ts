import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { CHROMIUM, openBrowser, openPage, type WatchedPage } from '../console/browser.ts';
import { Stage } from '../stage.ts';

describe('/docs in a browser', () => {
  const stage = new Stage();
  let browser: Browser;
  let watched: WatchedPage;

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    this.timeout(60_000);
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
    const some = await shown();
    assert(some > 0 && some < all, `${some} of ${all}`);
    assert(await page.locator('#capturePreauthorization').isVisible());
    assert(!(await page.locator('#signIn').isVisible()));
    assert.equal(await page.locator('nav a[href="#signIn"]').isVisible(), false);
    await page.getByLabel('Search the routes').fill('');
    assert.equal(await shown(), all);
  });

  it('violates no policy', () => assert.deepEqual(watched.complaints, []));
});
