import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { CHROMIUM, openBrowser, openPage } from '../../../gateway/console/browser.ts';
import { type Fixture, startFixture } from '../fixture.ts';
import { STATES, submitMistakes } from './states.ts';

/** Returns what axe finds in a page, one line for each element. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations, passes } = await page.evaluate<axe.AxeResults>('axe.run()');
  assert(passes.length > 5, 'axe checked the page');
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
}

describe(`the checkout page's states${CHROMIUM ? '' : ' (skipped: there is no /usr/bin/chromium)'}`, () => {
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

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport] of [
      ['phone', { width: 390, height: 844 }],
      ['desktop', { width: 1280, height: 900 }],
    ] as const) {
      it(`are accessible and fit, on a ${size}, ${colorScheme}`, async () => {
        const { page, complaints } = await openPage(browser, { viewport, colorScheme, locale: 'de-DE' });
        const inspect = async (state: string) => {
          assert.deepEqual(await findings(page), [], state);
          assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, state);
        };
        for (const [state, reach] of Object.entries(STATES)) {
          await page.goto(await reach(fixture));
          for (const details of await page.locator('summary').all()) await details.click();
          await inspect(state);
        }
        await page.goto(await (STATES.form as (typeof STATES)[string])(fixture));
        await submitMistakes(page);
        await inspect('to be corrected');
        // The browser logs each refusal; these are expected: cancelled, expired, unknown, invalid input.
        assert.equal(complaints.filter((complaint) => /status of (410|404|422)/.test(complaint)).length, 4);
        assert.equal(complaints.length, 4, complaints.join('\n'));
      });
    }
  }
});
