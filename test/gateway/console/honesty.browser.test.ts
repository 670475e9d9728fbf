/** What the console says about things that it cannot know, or that have not happened yet. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { Problem } from '../../../gateway/http/problem.ts';
import { CHROMIUM } from './browser.ts';
import { useViews } from './use-views.ts';

const ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const AT = '2026-01-01T00:00:00.000Z';
const DELIVERY = {
  ...{
    deliveryId: ID,
    merchantId: 'acme',
    endpointKind: 'WEBHOOK',
    requestId: ID,
    kind: 'PAYMENT',
    statusInfo: 'captured',
  },
  state: 'DEAD',
  attemptCount: 0,
  createdAt: AT,
  attempts: [],
};
const PAUSED = { merchantId: 'acme', endpointKind: 'WEBHOOK', pause: 'OPERATOR', failureCount: 0, changedAt: AT };
const CONTRACT = {
  allowMultipleCaptures: false,
  holdPeriodSeconds: 3_600,
  currencies: ['EUR'],
  terminals: ['T1'],
  notifyHolds: true,
  requireSignedCaptures: false,
};
const MERCHANT = {
  merchantId: 'acme',
  name: 'Acme',
  contract: CONTRACT,
  createdAt: AT,
  apiKeys: [
    { apiKeyId: ID, last4: 'Ab3d', createdAt: AT, scopes: ['read', 'hold'], allowedCidrs: [] },
    { apiKeyId: ID.replace(/.$/, 'c'), last4: 'wXyZ', createdAt: AT, scopes: ['read'], allowedCidrs: ['192.0.2.0/24'] },
  ],
  signingSecrets: [{ signingSecretId: ID, createdAt: AT }],
};

describe(`the honesty of the console${CHROMIUM ? '' : ' (skipped: there is no /usr/bin/chromium)'}`, () => {
  const { answer, give, open, ...views } = useViews();
  let page: Page;
  before(() => {
    page = views.page();
  });
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name });

  it('says that a replayed delivery waits while its endpoint is paused, and resumes the endpoint', async () => {
    await answer(`/deliveries/${ID}`, DELIVERY);
    await answer(`/deliveries/${ID}/replay`, { ...DELIVERY, state: 'PENDING' });
    await answer('/endpoints', { items: [PAUSED, { ...PAUSED, endpointKind: 'INTERNAL', pause: 'GONE' }] });
    await open(`deliveries/${ID}`);
    await button('Replay…').click();
    await inDialog('Replay').click();
    await page
      .locator('.notices', { hasText: 'Waiting: the webhook endpoint of acme is paused until it is resumed' })
      .waitFor();
    assert.equal(await page.getByText('is sent again.').count(), 0);
    let resumed = 0;
    await give('/endpoints/acme/webhook/resume', async (route) => {
      resumed += 1;
      await answer('/endpoints', { items: [] });
      await route.fulfill({ json: { ...PAUSED, pause: undefined } });
    });
    await button('Resume endpoint…').click();
    await inDialog('Resume endpoint').click();
    await page.getByText('Deliveries to the webhook endpoint of acme go on.').waitFor();
    await button('Resume endpoint…').waitFor({ state: 'detached' });
    assert.equal(resumed, 1);
    await button('Replay…').click();
    await inDialog('Replay').click();
    await page.getByText('The delivery is sent again.').waitFor();
  });

  it('says that replayed deliveries and a forwarded notification wait while their endpoint is paused', async () => {
    await answer('/deliveries', { items: [] });
    await answer('/deliveries/replay', { replayedCount: 2, more: false });
    await answer('/endpoints', { items: [PAUSED] });
    await open('deliveries?merchantId=acme');
    await button('Replay many…').click();
    await inDialog('Replay').click();
    await page.getByText(/2 deliveries are sent again\. Waiting: the webhook endpoint of acme is paused/).waitFor();
    const stored = {
      merchantId: 'acme',
      requestId: 'r-1',
      kind: 'PAYMENT',
      statusInfo: 'paid',
      status: 'OK',
      amount: '1',
    };
    await answer('/relay/notifications', {
      items: [{ ...stored, currency: 'EUR', receivedAt: AT, state: 'FORWARDED' }],
    });
    await answer('/relay/notifications/replay', stored);
    const pausedUntil = new Date(Date.now() + 60_000).toISOString();
    await answer('/endpoints', { items: [{ ...PAUSED, endpointKind: 'INTERNAL', pause: 'BREAKER', pausedUntil }] });
    await open('notifications');
    await button('Replay r-1').click();
    await inDialog('Replay').click();
    await page.getByText(/Waiting: the internal endpoint of acme is paused until .*\d\d:\d\d:\d\d/).waitFor();
  });

  it('shows what a delivery sends, and which operation it is about', async () => {
    const holdRequestId = ID.replace(/.$/, 'd');
    const operation = { requestId: ID, operation: 'CAPTURE', status: 'OK', merchantId: 'acme', amount: 400 };
    const headers = [{ name: 'x-service-signature', value: 'q83vEjRWeJCr…' }];
    const url = 'https://merchant.example/webhook/processor/payment/captured';
    await answer('/endpoints', { items: [] });
    await answer(`/deliveries/${ID}`, {
      ...DELIVERY,
      content: { url, headers, body: '{\n  "amount": 10.50\n}' },
      operation: { ...operation, currency: 'EUR', holdRequestId },
    });
    await open(`deliveries/${ID}`);
    for (const text of [url, 'q83vEjRWeJCr…', '"amount": 10.50']) await page.getByText(text).waitFor();
    const href = (name: string) => page.getByRole('link', { name }).getAttribute('href');
    assert.equal(await href('Capture of €4.00'), `#/operations/${ID}`);
    assert.equal(await href('its hold'), `#/holds/${holdRequestId}`);
    await answer(`/deliveries/${ID}`, { ...DELIVERY, content: { headers: [] } });
    await open(`deliveries/${ID}`);
    await page.getByText('The merchant has no such endpoint now.').waitFor();
    await page.getByText('The body was deleted').waitFor();
  });

  it('shows the old and new values of a change, and which key was used', async () => {
    const entry = (action: string, detail: object) => ({
      auditEntryId: ID.replace(/.$/, String(action.length % 10)),
      at: AT,
      actor: 'operator/Grace',
      action,
      target: 'acme',
      detail,
    });
    const changed = {
      before: { webhookUrl: null, currencies: ['EUR'] },
      after: { webhookUrl: 'https://a', currencies: [] },
    };
    const items = [entry('merchant.update', changed), entry('api-key.revoke', { apiKeyId: ID, last4: 'wXyZ' })];
    await answer('/audit', { items });
    await open('audit');
    await page.getByText('wXyZ').waitFor();
    const cell = page.getByRole('cell').filter({ hasText: 'webhookUrl' });
    assert.match((await cell.textContent()) ?? '', /webhookUrl\s*none\s*→\s*https:\/\/a\s*currencies\s*EUR\s*→/);
  });

  it('warns of an address that may be unreachable, when it is saved and afterwards', async () => {
    const warnings = [{ field: 'contract.webhookUrl', message: 'the address is not public; deliveries fail unless' }];
    await give('/merchants/acme', (route) =>
      route.fulfill({
        json: route.request().method() === 'PUT' ? { ...MERCHANT, warnings } : { ...MERCHANT, warnings: [] },
      }),
    );
    await open('merchants/acme');
    await page.getByLabel('Webhook URL').fill('https://10.0.0.1');
    await answer('/merchants/acme', { ...MERCHANT, warnings });
    await button('Save the contract').click();
    await page.getByText('The contract is saved, with a warning.').waitFor();
    await page.getByText('Webhook URL: the address is not public').waitFor();
  });

  it('saves a contract only as it was read last', async () => {
    let etag = 'first';
    let reading = Promise.resolve();
    const saved: { etag: string; contract: { webhookUrl: string } }[] = [];
    await give('/merchants/acme', async (route) => {
      if (route.request().method() === 'PUT') saved.push(route.request().postDataJSON());
      else await reading;
      await route.fulfill({ json: { ...MERCHANT, etag } });
    });
    await give(`/merchants/acme/signing-secrets/${ID}`, (route) => {
      etag = 'second';
      return route.fulfill({ status: 204 });
    });
    await open('merchants/acme');
    await page.getByLabel('Webhook URL').fill('https://merchant.example');
    const read = Promise.withResolvers<void>();
    reading = read.promise;
    await button(/^Retire the signing secret/).click();
    await inDialog('Retire').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const save = button('Save the contract');
    assert(await save.isDisabled(), 'the merchant is being read');
    read.resolve();
    await save.click();
    await page.getByText('The contract is saved.').waitFor();
    assert.deepEqual([saved[0]?.etag, saved[0]?.contract.webhookUrl], ['second', 'https://merchant.example']);
  });

  it('names the key that it revokes', async () => {
    await answer('/merchants/acme', MERCHANT);
    await answer('/merchants/acme/signing-secrets', { signingSecret: 'whsec_new' });
    await give(`/merchants/acme/api-keys/${MERCHANT.apiKeys[1]?.apiKeyId}`, (route) => route.fulfill({ status: 204 }));
    await open('merchants/acme');
    await button('Revoke the API key …wXyZ').click();
    await page.getByRole('heading', { name: 'Revoke the API key …wXyZ?' }).waitFor();
    await inDialog('Revoke').click();
    await page.getByText('The API key …wXyZ is revoked.').waitFor();
    await button(/^Retire the signing secret …6c7d8e9f0a1b/).click();
    await page.getByRole('heading', { name: 'Retire the signing secret …6c7d8e9f0a1b?' }).waitFor();
    await inDialog('Back').click();
  });

  it('creates a key that manages the webhook only on request, and marks such keys', async () => {
    const [first, second] = MERCHANT.apiKeys;
    const apiKeys = [{ ...first, scopes: ['read', 'webhook'], managesWebhook: true }, second];
    await answer('/merchants/acme', { ...MERCHANT, apiKeys });
    const bodies: object[] = [];
    await give('/merchants/acme/api-keys', async (route) => {
      bodies.push(route.request().postDataJSON());
      await route.fulfill({ status: 201, json: { apiKey: 'hf_new' } });
    });
    await open('merchants/acme');
    const rows = page.getByRole('region', { name: 'API keys' }).getByRole('row');
    await rows.filter({ hasText: 'webhook' }).waitFor();
    assert.equal(await rows.filter({ hasText: 'webhook' }).count(), 1);
    for (const manages of [false, true]) {
      await button('New API key…').click();
      if (manages) await page.getByLabel('It manages the webhook').check();
      await inDialog('Create').click();
      await page.getByText('hf_new').waitFor();
      await page.getByLabel('I have stored it').check();
      await inDialog('Close').click();
    }
    assert.deepEqual(bodies, [{ managesWebhook: false }, { managesWebhook: true }]);
  });

  it('keeps a secret that is shown once on screen until the operator confirms it', async () => {
    await open('merchants/acme');
    await button('New signing secret…').click();
    await inDialog('Create').click();
    const secret = page.getByText('whsec_new');
    await secret.waitFor();
    for (let times = 0; times < 3; times += 1) await page.keyboard.press('Escape');
    await page.getByText('It cannot be shown again.').waitFor();
    await page.evaluate(`location.hash = '#/audit'`);
    await page.getByRole('heading', { name: 'Audit log', includeHidden: true }).waitFor();
    assert(await secret.isVisible());
    await inDialog('Close').click();
    assert(await secret.isVisible(), 'the box is not ticked');
    await page.getByLabel('I have stored it').check();
    await inDialog('Close').click();
    await secret.waitFor({ state: 'detached' });
  });

  it('calls nothing live, and nothing empty, while the database is away', async () => {
    for (const path of ['/overview', '/overview/series', '/operations']) {
      await answer(path, new Problem('UNAVAILABLE').toJSON(), 503);
    }
    await give('/operations/stream', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: 'retry: 600000\n\n' }),
    );
    await open('');
    await page.getByText('no answer', { exact: true }).waitFor();
    assert.equal(await page.getByText('live', { exact: true }).count(), 0);
    assert.equal(await page.getByText('No operation has had a result yet.').count(), 0);
  });

  it('cancels a checkout, of whose hold nothing remains before it is placed', async () => {
    const amounts = { amountCaptured: 0, amountInFlight: 0, amountRemaining: 0, amountReleased: 0 };
    const hold = {
      ...amounts,
      requestId: ID,
      merchantId: 'acme',
      status: 'IN_PROGRESS',
      phase: 'AWAITING_CHECKOUT',
      amount: 1050,
      currency: 'EUR',
      createdAt: AT,
      captures: [],
      operations: [],
      deliveries: [],
    };
    await answer(`/holds/${ID}`, hold);
    await answer(`/holds/${ID}/release`, { ...hold, status: 'FAILED', phase: 'FAILED' });
    await open(`holds/${ID}`);
    await button('Cancel checkout…').click();
    await page.getByText('the customer cannot enter a card any more').waitFor();
    await answer(`/holds/${ID}`, { ...hold, status: 'FAILED', phase: 'FAILED' });
    await inDialog('Cancel checkout').click();
    await page.getByText('The checkout is cancelled.').waitFor();
    await button('Cancel checkout…').waitFor({ state: 'detached' });
  });

  it('goes on under the session that another tab has begun since', async () => {
    await answer('/endpoints', { items: [PAUSED] });
    await open('endpoints');
    await answer('/session', { csrfToken: 'newer', expiresAt: '2030-01-01T00:00:00.000Z' });
    const tokens: (string | undefined)[] = [];
    await give('/endpoints/acme/webhook/resume', async (route) => {
      const token = route.request().headers()['x-csrf-token'];
      tokens.push(token);
      if (token === 'newer') await route.fulfill({ json: PAUSED });
      else await route.fulfill({ status: 403, json: new Problem('FORBIDDEN').toJSON() });
    });
    await button('Resume the webhook endpoint of acme').click();
    await inDialog('Resume endpoint').click();
    await page.getByText('Deliveries to the webhook endpoint of acme go on.').waitFor();
    assert.deepEqual(tokens, ['csrf', 'newer']);
    await give('/endpoints/acme/webhook/resume', (route) =>
      route.fulfill({ status: 403, json: new Problem('FORBIDDEN').toJSON() }),
    );
    await button('Resume the webhook endpoint of acme').click();
    await inDialog('Resume endpoint').click();
    await page.getByText('FORBIDDEN').waitFor();
    await inDialog('Back').click();
  });

  it('says that no view has an address that cannot be decoded', async () => {
    await page.goto(`${new URL(page.url()).origin}/console#/%`);
    await page.getByText('No view has this address.').waitFor();
  });

  it('shows how old the data is while the service hangs, and that nothing is live', async () => {
    await answer('/overview', { deadDeliveryCount: 7 });
    await answer('/overview/series', { items: [] });
    await answer('/operations', { items: [] });
    await give('/operations/stream', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: 'retry: 600000\n\n' }),
    );
    await page.clock.install();
    await page.reload();
    await open('');
    await page.getByText('As of').waitFor();
    let asked = 0;
    await give('/overview', async () => {
      asked += 1;
    });
    await page.clock.runFor(26_000);
    await page.getByText(/No answer since/).waitFor();
    assert.equal(await page.getByText('live', { exact: true }).count(), 0);
    assert.equal(asked, 1);
    await page.getByText('7', { exact: true }).waitFor();
  });
});
