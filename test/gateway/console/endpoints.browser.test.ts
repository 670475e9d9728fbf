/** Endpoints in the console. */
import assert from 'node:assert/strict';
import axe from 'axe-core';
import { useViews } from './use-views.ts';

const ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const AT = '2026-01-01T00:00:00.000Z';
const PAUSED = { merchantId: 'acme', endpointKind: 'WEBHOOK', pause: 'OPERATOR', failureCount: 0, changedAt: AT };
const MERCHANT = {
  merchantId: 'acme',
  name: 'Acme',
  contract: { allowMultipleCaptures: true, currencies: ['EUR'], terminals: ['T1'] },
  createdAt: AT,
  apiKeys: [],
  signingSecrets: [],
};

describe('the endpoints of a merchant in the console', () => {
  const views = useViews();

  it('are shown, the worst first, and a further one is paused by its id', async () => {
    const page = views.page();
    const endpoint = {
      purpose: 'merchant',
      types: [],
      headerNames: [],
      timeoutSeconds: 10,
      signingSecrets: [],
      warnings: [],
    };
    const further = { ...endpoint, endpointId: `webhook-${ID}`, url: 'https://books.example', failureCount: 7 };
    await views.answer('/merchants/acme', MERCHANT);
    await views.answer('/merchants/acme/webhook-endpoints', {
      items: [{ ...endpoint, endpointId: 'default', url: 'https://a.example', failureCount: 0 }, further],
    });
    const paused = page.waitForRequest((request) => request.url().endsWith(`/endpoints/acme/webhook-${ID}/pause`));
    await views.answer(`/endpoints/acme/webhook-${ID}/pause`, { ...PAUSED, endpointId: `webhook-${ID}` });
    await views.open('merchants/acme');
    const rows = page.getByRole('table', { name: 'Endpoints' }).getByRole('row');
    assert.match((await rows.nth(1).textContent()) ?? '', /books\.example.*7/);
    await rows
      .nth(1)
      .getByRole('button', { name: /^Pause/ })
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause endpoint' }).click();
    await paused;
  });
});

describe('the worst endpoints of all merchants in the console', () => {
  const views = useViews();

  it('are listed as the service orders them, with their backlog and their newest error', async () => {
    const page = views.page();
    const webhook = { endpointKind: 'WEBHOOK', endpointId: 'default', changedAt: AT };
    const failing = { ...webhook, merchantId: 'globex', failureCount: 31, failingSince: AT, pause: 'BREAKER' };
    await views.answer('/endpoints', {
      items: [
        { ...failing, lastError: '<b>HTTP 503</b>', waitingCount: 1000, deadCount: 7 },
        { ...webhook, merchantId: 'acme', failureCount: 0, pause: 'OPERATOR', waitingCount: 0, deadCount: 0 },
      ],
    });
    await views.open('endpoints');
    const table = page.getByRole('table', { name: 'Endpoints, the one that has failed longest first' });
    const row = table.getByRole('row').nth(1);
    const cell = async (name: string, of = row) => (await of.locator(`td[data-name="${name}"]`).textContent())?.trim();
    const names = ['Merchant', 'Failures in a row', 'Newest error', 'Wait', 'Dead'];
    const shown = await Promise.all(names.map((name) => cell(name)));
    assert.deepEqual(shown, ['globex', '31', '<b>HTTP 503</b>', '1000 or more', '7']);
    assert.equal(await cell('Dead', table.getByRole('row').nth(2)), '0');
    assert.equal(
      await row.getByRole('link', { name: '7', exact: true }).getAttribute('href'),
      '#/deliveries?merchantId=globex&endpointId=default&state=DEAD',
    );
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
    assert.deepEqual(
      violations.map(({ id }) => id),
      [],
    );
  });
});
