/** Debian's Chromium, for browser tests and screenshots. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Path of the browser; undefined when it is not installed. */
export const CHROMIUM: string | undefined = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

/** Starts a browser without network access of its own; its temporary profile is removed when it closes. */
export function openBrowser(): Promise<Browser> {
  const quiet = ['no-first-run', 'disable-background-networking', 'disable-component-update', 'disable-sync'];
  const flags = ['headless', 'no-sandbox', 'disable-gpu', 'disable-quic', ...quiet];
  return chromium.launch({ executablePath: CHROMIUM as string, args: flags.map((flag) => `--${flag}`) });
}

/** A page, and the errors and policy violations that its browser has reported so far. */
export interface WatchedPage {
  readonly page: Page;
  readonly complaints: string[];
}

/** Opens a page with a profile of its own. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.stack ?? error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  await page.exposeFunction('heardBreach', (breach: string) => complaints.push(breach));
  await page.addInitScript(`addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    heardBreach('policy: ' + violatedDirective + ' ' + blockedURI);
  });`);
  page.setDefaultTimeout(20_000);
  return { page, complaints };
}
