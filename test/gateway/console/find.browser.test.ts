/** How an operator finds records in the console, and returns to them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { CHROMIUM } from './browser.ts';
import { useViews } from './use-views.ts';

const idOf = (number: number) => `0199a1b2-7c3d-7e4f-8a5b-${String(number).padStart(12, '0')}`;
const AT = '2026-01-01T12:00:00.000Z';
const operation = (number: number, change: object = {}) => ({
  requestId: idOf(number),
  operation: 'OCT',
  status: 'OK',
  statusInfo: 'paid',
  merchantId: 'acme',
  amount: 1234,
  currency: 'EUR',
  finalStateDate: AT,
  createdAt: AT,
  matchedBy: 'MERCHANT_REFERENCE',
  ...change,
});

describe(`finding things in the console${CHROMIUM ? '' : ' (skipped: there is no /usr/bin/chromium)'}`, () => {
  const { answer, give, open, ...views } = useViews();
  let page: Page;
  before(() => {
    page = views.page();
  });
  /**
   * Acts, and waits until the page has asked for something because of it. The text of a page does not tell: what was
   * found before is still there.
   */
  const askedBy = async <T>(asked: T[], act: () => Promise<unknown>) => {
    const before = asked.length;
    await act();
    while (asked.length === before) await page.waitForTimeout(10);
    return asked.at(-1);
  };
  const search = () => page.getByRole('button', { name: 'Search', exact: true }).click();
  const seek = async (text: string) => {
    await page.getByLabel('Find anything').fill(text);
    await page.keyboard.press('Enter');
  };

  it('sends the search text in a body, never in a URL, and can search further back', async () => {
    const bodies: { text: string; pageToken?: string }[] = [];
    await give('/search', async (route) => {
      const body = route.request().postDataJSON();
      bodies.push(body);
      const items = [operation(bodies.length), operation(bodies.length + 10, { operation: 'HOLD' })];
      const further = body.pageToken ? {} : { searchedFrom: AT, nextPageToken: 'more' };
      await route.fulfill({ json: { items, ...further } });
    });
    await answer('/audit', { items: [] });
    await open('audit');
    await seek('pre_secret-handle');
    await page.getByText('2 found, searched back to').waitFor();
    await page.getByRole('button', { name: 'Search further back' }).click();
    await page.getByText('4 found').waitFor();
    assert.deepEqual(bodies.at(-1), { text: 'pre_secret-handle', pageToken: 'more' });
    const hold = page.getByRole('row', { name: /Hold/ }).getByRole('link').first();
    assert.match((await hold.getAttribute('href')) ?? '', /^#\/holds\//);
    const traces = await page.evaluate(
      'JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, history.state])',
    );
    assert(!String(traces).includes('secret-handle'));
  });

  it('opens the record when an identifier matches only one', async () => {
    await answer('/search', { items: [operation(7, { matchedBy: 'ID' })] });
    await answer(`/operations/${idOf(7)}`, operation(7, { reference: 'ref-7' }));
    await answer('/contradictions', { items: [] });
    await answer('/deliveries', {
      items: [{ deliveryId: idOf(9), statusInfo: 'paid', endpointKind: 'WEBHOOK', state: 'DEAD', createdAt: AT }],
    });
    await seek('…000000000007');
    await page.getByRole('heading', { name: 'Operation' }).waitFor();
    await page.getByText('ref-7').waitFor();
    await page.getByRole('link', { name: '“paid” to the webhook endpoint' }).waitFor();
    await answer('/search', { items: [] });
    await seek('nothing');
    await page.getByText('Nothing matches.').waitFor();
    await seek('x');
    await page.getByText('Nothing matches.').waitFor();
  });

  it('filters operations by amount and by local time', async () => {
    const asked: URLSearchParams[] = [];
    await give('/operations', async (route) => {
      asked.push(new URL(route.request().url()).searchParams);
      await route.fulfill({ json: { items: [operation(1)] } });
    });
    await askedBy(asked, () => open('operations'));
    await page.getByLabel('Amount at least').fill('12.34');
    await page.getByLabel('Currency').fill('kwd');
    await page.getByLabel('Final since').fill('2026-01-01T10:00:00');
    const { amountFrom, currency, finalFrom } = Object.fromEntries((await askedBy(asked, search)) ?? []);
    assert.match(page.url(), /amountFrom/);
    assert.deepEqual(
      [amountFrom, currency, finalFrom],
      ['12340', 'KWD', new Date('2026-01-01T10:00:00').toISOString()],
    );
    const time = page.getByRole('cell').locator('time').first();
    assert.equal(await time.getAttribute('title'), '2026-01-01 12:00:00.000 UTC');
    const amount = page.getByLabel('Amount at least');
    await amount.fill('1,000');
    await search();
    assert.equal(await amount.evaluate((input) => input.matches(':invalid')), true, 'a comma may mean two things');
    // What nobody can read is refused by the service, not guessed.
    const shared = await askedBy(asked, () => open('operations?amountFrom=10.5&currency=JPY'));
    assert.equal(shared?.get('amountFrom'), 'NaN');
  });

  it('searches again for the same text', async () => {
    await answer('/search', { items: [] });
    await seek('order-1');
    await page.getByText('Nothing matches').waitFor();
    await answer('/search', { items: [operation(1), operation(2)] });
    await seek('order-1');
    await page.getByText('2 found').waitFor();
  });

  it('searches within a merchant and local times, which the URL contains; the text is not in it', async () => {
    const bodies: object[] = [];
    await give('/search', async (route) => {
      bodies.push(route.request().postDataJSON());
      await route.fulfill({ json: { items: [operation(1), operation(2)], nextPageToken: 'more' } });
    });
    await answer('/audit', { items: [] });
    await open('audit');
    assert.deepEqual(await askedBy(bodies, () => seek('order-1001')), { text: 'order-1001' });
    await page.getByLabel('Merchant', { exact: true }).fill('acme');
    await page.getByLabel('Asked for since').fill('2026-01-01T10:00:00');
    await page.getByLabel('Asked for before').fill('2026-01-02T10:00:00');
    const filter = {
      merchantId: 'acme',
      createdFrom: new Date('2026-01-01T10:00:00').toISOString(),
      createdTo: new Date('2026-01-02T10:00:00').toISOString(),
    };
    const filtered = await askedBy(bodies, search);
    assert.deepEqual(filtered, { text: 'order-1001', ...filter });
    assert.match(page.url(), /#\/search\?merchantId=acme/);
    assert.doesNotMatch(page.url(), /order-1001/);
    await page.getByRole('button', { name: 'Search further back' }).click();
    await page.getByText('4 found').waitFor();
    assert.deepEqual(bodies.at(-1), { text: 'order-1001', ...filter, pageToken: 'more' });
    const changed = await askedBy(bodies, () => seek('order-1002'));
    assert.deepEqual(changed, { text: 'order-1002', ...filter }, 'the filter stays when the text changes');
    const cleared = await askedBy(bodies, () => page.getByRole('link', { name: 'Clear' }).click());
    assert.deepEqual(cleared, { text: 'order-1002' });
    assert.match(page.url(), /#\/search$/);
  });

  for (const [view, path, label, from, to] of [
    ['deliveries', '/deliveries', 'Created', 'createdFrom', 'createdTo'],
    ['audit', '/audit', 'Written', 'atFrom', 'atTo'],
  ] as const) {
    it(`filters ${view} by local time, and keeps the filter in the URL`, async () => {
      const asked: URLSearchParams[] = [];
      await give(path, async (route) => {
        asked.push(new URL(route.request().url()).searchParams);
        await route.fulfill({ json: { items: [] } });
      });
      await askedBy(asked, () => open(view));
      await page.getByLabel(`${label} since`).fill('2026-01-01T10:00:00');
      await page.getByLabel(`${label} before`).fill('2026-01-02T10:30:15');
      const { [from]: first, [to]: end } = Object.fromEntries((await askedBy(asked, search)) ?? []);
      const local = ['2026-01-01T10:00:00', '2026-01-02T10:30:15'].map((text) => new Date(text).toISOString());
      assert.deepEqual([first, end], local);
      assert(page.url().includes(from));
      await askedBy(asked, () => page.reload());
      await page.getByText(/^No .* matches\.$/).waitFor();
      assert.match(await page.getByLabel(`${label} before`).inputValue(), /^2026-01-02T10:30:15/);
      assert.deepEqual([asked.at(-1)?.get(from), asked.at(-1)?.get(to)], local);
    });
  }

  it('keeps what is typed as soon as a form is there', async () => {
    await answer('/audit', { items: [] });
    await answer('/deliveries', { items: [] });
    await open('audit');
    await page.getByLabel('Written since').waitFor();
    const typed = page.evaluate(`new Promise((resolve) => {
      const type = () => {
        const field = document.querySelector('input[name=merchantId]');
        if (field === null || location.hash !== '#/deliveries') return;
        typing.disconnect();
        field.value = 'typed at once';
        setTimeout(() => resolve(field.value), 500);
      };
      const typing = new MutationObserver(type);
      typing.observe(document.body, { childList: true, subtree: true });
      location.hash = '#/deliveries';
    })`);
    assert.equal(await typed, 'typed at once');
  });

  it('exports all pages of a list as CSV, and neutralises formulas', async () => {
    await give('/operations', async (route) => {
      const token = new URL(route.request().url()).searchParams.get('pageToken');
      const items = token ? [operation(2, { userId: '＝1', merchantReference: '=HYPERLINK("a,b")' })] : [operation(1)];
      await route.fulfill({ json: { items, ...(!token && { nextPageToken: 'more' }) } });
    });
    await open('operations');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const file = await download;
    assert.match(file.suggestedFilename(), /^holdfast-operations-[\dT-]+Z\.csv$/);
    const [head, first, second, end] = (await readFile(await file.path(), 'utf8')).split('\r\n');
    assert.match(head ?? '', /^\u{FEFF}requestId,operation,.*,amount,currency,.*merchantReference$/u);
    assert.match(first ?? '', /^"0199.*",1234,"EUR",/);
    assert.match(second ?? '', /,"'＝1",/);
    assert.match(second ?? '', /"'=HYPERLINK\(""a,b""\)"$/);
    assert.equal(end, '');
  });

  it('returns to the scroll position and the filter', async () => {
    await give('/operations', async (route) => {
      const { searchParams } = new URL(route.request().url());
      const start = Number(searchParams.get('pageToken') ?? 0);
      const items = Array.from({ length: 50 }, (_, index) => operation(start + index));
      await route.fulfill({ json: { items, nextPageToken: String(start + 50) } });
    });
    await answer(`/operations/${idOf(80)}`, operation(80));
    await open('operations?merchantId=acme');
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('The first 100').waitFor();
    const link = page.locator(`a[href$="${idOf(80)}"]`);
    await link.scrollIntoViewIfNeeded();
    await page.waitForTimeout(100);
    const before = Number(await page.evaluate('scrollY'));
    assert(before > 500, String(before));
    await link.click();
    await page.getByRole('heading', { name: 'Operation', exact: true }).waitFor();
    assert.equal(await page.evaluate('scrollY'), 0);
    await page.goBack();
    await page.getByText('The first 100').waitFor();
    await page.waitForFunction(`Math.abs(scrollY - ${before}) < 5`);
    assert.match(page.url(), /merchantId=acme/);
    assert.equal(await page.getByLabel('Merchant', { exact: true }).inputValue(), 'acme');
  });
});
