import type { Browser, Page, Route } from 'playwright-core';
import { Stage } from '../stage.ts';
import { CHROMIUM, openBrowser, openPage } from './browser.ts';

/** A signed-in operator's console whose requests the test answers. */
export interface Views {
  page(): Page;
  /** Sets the answer to a path of the operators' API; the latest one wins. */
  give(path: string, handler: (route: Route) => Promise<void>): Promise<void>;
  answer(path: string, json: object, status?: number): Promise<void>;
  /** Opens a view in a fresh page. */
  open(path: string): Promise<void>;
}

/** Opens the console in a browser for a suite; skips the suite where there is no browser. */
export function useViews(): Views {
  const stage = new Stage();
  let browser: Browser;
  let page: Page;
  const urlOf = (path: string) => (url: URL) => url.pathname === `/operator${path}`;
  const give = async (path: string, handler: (route: Route) => Promise<void>) =>
    void (await page.route(urlOf(path), handler));
  const answer = (path: string, json: object, status = 200) => give(path, (route) => route.fulfill({ status, json }));
  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    await stage.open();
    browser = await openBrowser();
    ({ page } = await openPage(browser));
    await page.addInitScript(`localStorage.setItem('holdfast-signed-in', 'yes')`);
    // The view of a merchant reads them, whatever a test is about.
    await page.route(/\/webhook-endpoints$/, (route) => route.fulfill({ json: { items: [] } }));
    await answer('/session', { csrfToken: 'csrf', expiresAt: '2030-01-01T00:00:00.000Z' });
  });
  after(async () => {
    await browser?.close();
    if (CHROMIUM !== undefined) await stage.close();
  });
  return {
    page: () => page,
    give,
    answer,
    open: async (path) => {
      await page.goto(`${stage.origin}/console#/elsewhere`);
      await page.getByText('No view has this address.').waitFor();
      await page.goto(`${stage.origin}/console#/${path}`);
    },
  };
}
