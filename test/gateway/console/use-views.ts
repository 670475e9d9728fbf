import type { Browser, Page, Route } from 'playwright-core';
import { Stage } from '../stage.ts';
import { CHROMIUM, openBrowser, openPage } from './browser.ts';

/** The console of a signed-in operator, whose requests a test answers. */
export interface Views {
  page(): Page;
  /** Decides what a path of the operators' API answers. The latest answer to a path is the one that holds. */
  give(path: string, handler: (route: Route) => Promise<void>): Promise<void>;
  answer(path: string, json: object, status?: number): Promise<void>;
  /** Opens a view anew. */
  open(path: string): Promise<void>;
}

/** Opens the console in a browser for the tests of a suite; skips them where there is no browser. */
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
