/**
 * Views in a browser with answers that the service rarely gives: empty lists, slow answers, refusals, operations in
 * review.
 */
import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { Problem } from '../../../gateway/http/problem.ts';
import { OPERATION_ROUTES } from '../../../gateway/operator/operations.ts';
import { CHROMIUM } from './browser.ts';
import { useViews } from './use-views.ts';

/** Each list, its request, and its text when it is empty. */
const LISTS = [
  ['holds', '/holds', 'No hold matches.'],
  ['deliveries', '/deliveries', 'No delivery matches.'],
  ['endpoints', '/endpoints', 'Every endpoint works.'],
  ['relay', '/relay/failures', 'Nothing was refused.'],
  ['notifications', '/relay/notifications', 'No notification matches.'],
  ['quarantine', '/relay/quarantine', 'Nothing is set aside.'],
  ['reviews', '/reviews', 'Nothing waits for you.'],
  ['merchants', '/merchants', 'There is no merchant yet.'],
  ['audit', '/audit', 'No entry matches.'],
] as const;

const ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';

describe(`the views of the console${CHROMIUM ? '' : ' (skipped: there is no /usr/bin/chromium)'}`, () => {
  const { answer, give, open, ...views } = useViews();
  let page: Page;
  before(() => {
    page = views.page();
  });

  for (const [view, path, empty] of LISTS) {
    it(`${view}: says that it is loading, that it is empty, and why it fails`, async () => {
      const gate = Promise.withResolvers<void>();
      await give(path, async (route) => {
        await gate.promise;
        await route.fulfill({ json: { items: [] } });
      });
      await open(view);
      await page
        .getByText(/^Loading .*…$/)
        .first()
        .waitFor();
      gate.resolve();
      await page.getByText(empty).waitFor();
      await answer(path, new Problem('UNAVAILABLE').toJSON(), 503);
      await open(view);
      const alert = page.getByRole('alert').first();
      await alert.getByText('The service is not available', { exact: true }).waitFor();
      await answer(path, { items: [] });
      await alert.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('alert').nth(1).waitFor({ state: 'detached' });
    });
  }

  it('reconnects after the stream was refused, and lists the operations it missed', async () => {
    const operation = (requestId: string, statusInfo: string) => ({
      ...{
        requestId,
        operation: 'CAPTURE',
        status: 'OK',
        statusInfo,
        merchantId: 'acme',
        amount: 400,
        currency: 'EUR',
      },
      finalStateDate: new Date().toISOString(),
    });
    let asked = 0;
    await answer('/overview', { at: new Date().toISOString() });
    await answer('/overview/series', { items: [] });
    await answer('/operations', { items: [] });
    await give('/operations/stream', async (route) => {
      asked += 1;
      if (asked === 1) return route.fulfill({ status: 503, json: new Problem('UNAVAILABLE').toJSON() });
      await answer('/operations', { items: [operation(ID.replace(/.$/, 'a'), 'missed')] });
      const body = `retry: 60000\n\nid: t1\nevent: operation\ndata: ${JSON.stringify(operation(ID, 'captured'))}\n\n`;
      await route.fulfill({ contentType: 'text/event-stream', body });
    });
    await open('');
    await page.getByText('Capture captured').waitFor();
    await page.getByText('Capture missed').waitFor();
    assert.equal(asked, 2);
  });

  it('shows each card processor in the overview', async () => {
    const healthy = { processor: 'sandbox', configured: true, available: true, unknownCount: 0, needsReviewCount: 0 };
    const away = { ...healthy, processor: 'stripe', available: false, unknownCount: 3, needsReviewCount: 2 };
    const gone = { ...healthy, processor: 'adyen', configured: false, available: false, needsReviewCount: 1 };
    await answer('/overview', { at: new Date().toISOString(), processors: [healthy, away, gone] });
    await answer('/overview/series', { items: [] });
    await answer('/operations', { items: [] });
    await open('');
    const rowOf = (name: string) => page.getByRole('row').filter({ hasText: name });
    await rowOf('sandbox').getByText('answers', { exact: true }).waitFor();
    await rowOf('stripe').getByText('does not answer: new holds and OCTs are refused').waitFor();
    assert.deepEqual(await rowOf('stripe').getByRole('link').allInnerTexts(), ['3', '2']);
    await rowOf('adyen').getByText('not configured').waitFor();
  });

  it('says in the overview that the database is being reconciled, and what that means', async () => {
    await answer('/overview/series', { items: [] });
    await answer('/operations', { items: [] });
    await answer('/overview', { at: new Date().toISOString(), reconcilingSince: new Date(Date.now() - 7_200_000) });
    await open('');
    const alert = page.getByRole('alert');
    await alert.getByText(/^Reconciling since .*:/).waitFor();
    assert.match(
      (await alert.textContent()) ?? '',
      /RECONCILING, and no hold ends, until\s+npm run reconcile finds nothing unknown/,
    );
    await page.getByText('2 hours ago').waitFor();
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
    assert.deepEqual(
      violations.map(({ id }) => id),
      [],
    );
    await answer('/overview', { at: new Date().toISOString() });
    await open('');
    await page.getByText('Holds ending within 24 hours').waitFor();
    assert.equal(await alert.count(), 0);
  });

  it('shows every value as plain text', async () => {
    const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    const entry = {
      auditEntryId: ID,
      at: '2026-01-01T00:00:00.000Z',
      actor: evil,
      action: evil,
      target: evil,
      detail: { evil },
    };
    await answer('/audit', { items: [entry] });
    await open('audit');
    await page.getByRole('cell', { name: evil }).first().waitFor();
    assert.equal(await page.locator('main img, main script').count(), 0);
    assert.equal(await page.title(), 'Audit log · Holdfast');
  });

  describe('a resolution', () => {
    const item = {
      ...{
        requestId: ID,
        reason: 'NEEDS_REVIEW',
        operation: 'CAPTURE',
        merchantId: 'acme',
        amount: 1050,
        currency: 'KWD',
        contradictions: [],
      },
      ...{
        holdRequestId: ID,
        createdAt: '2026-01-01T00:00:00.000Z',
        ageSeconds: 90_000,
        inquiryCount: 9,
        lateVoid: false,
      },
    };

    const FOREIGN = {
      contradictionId: ID,
      at: '2026-01-01T00:00:00.000Z',
      kind: 'FOREIGN_CAPTURE',
      source: 'EVENT',
      processor: 'stripe',
      eventId: 'foreign-1',
      told: 'FOREIGN_CAPTURE',
      kept: 'NONE',
      toldAmount: 400,
      currency: 'KWD',
    };

    async function resolve(change: object, decide: () => Promise<void>): Promise<unknown> {
      const sent = Promise.withResolvers<unknown>();
      await answer('/reviews', { items: [{ ...item, ...change }] });
      await give(`/reviews/${ID}/resolve`, async (route) => {
        assert.equal(route.request().headers()['x-csrf-token'], 'csrf');
        sent.resolve(route.request().postDataJSON());
        await route.fulfill({ json: { requestId: ID, frozen: false } });
      });
      await open('reviews');
      await page.getByText('KWD 1.050').waitFor();
      await page.getByRole('button', { name: `Resolve ${ID}` }).click();
      await page.getByLabel('How do you know?').fill('They told me');
      await decide();
      await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
      await page.getByText('Resolved.').waitFor();
      const body = await sent.promise;
      OPERATION_ROUTES.resolveReview.body?.parse(body);
      return body;
    }

    it('sends OK with references', async () => {
      const body = await resolve({}, async () => {
        await page.getByLabel('Outcome').selectOption('OK');
        await page.getByLabel("Bank's reference").fill('bank-1');
      });
      assert.deepEqual(body, { outcome: 'OK', bankReference: 'bank-1', reason: 'They told me' });
    });

    it("sends KO with the processor's code, and unfreezes", async () => {
      const body = await resolve({}, async () => {
        await page.getByLabel('Outcome').selectOption('KO');
        await page.getByLabel("Processor's code").fill('no');
        await page.getByLabel('End the freezing').check();
      });
      assert.deepEqual(body, { outcome: 'KO', processorCode: 'no', unfreezeHold: true, reason: 'They told me' });
    });

    it('does not take what was typed for one outcome for a field of the other', async () => {
      const body = await resolve({ reason: 'NEEDS_REVIEW', operation: 'CAPTURE' }, async () => {
        await page.getByLabel('Outcome').selectOption('OK');
        await page.getByLabel("Processor's reference").fill('psp-1');
        await page.getByLabel('Outcome').selectOption('KO');
        assert.equal(await page.getByLabel("Processor's code").inputValue(), '');
      });
      assert.deepEqual(body, { outcome: 'KO', reason: 'They told me' });
    });

    it('unfreezes a hold, and shows what contradicted it', async () => {
      const frozen = { reason: 'FROZEN', operation: 'HOLD', contradictions: [FOREIGN] };
      const body = await resolve(frozen, async () => {
        assert.equal(await page.getByLabel('Outcome').count(), 0);
        const said = 'stripe said by the event foreign-1: Foreign capture KWD 0.400 · here: None';
        await page.getByRole('dialog').getByText(said).waitFor();
      });
      assert.deepEqual(body, { unfreezeHold: true, reason: 'They told me' });
    });

    it('says that the processor overruled it', async () => {
      await answer('/reviews', { items: [item] });
      await answer(`/reviews/${ID}/resolve`, { overruled: true, frozen: true, operation: { status: 'OK' } });
      await open('reviews');
      await page.getByRole('button', { name: `Resolve ${ID}` }).click();
      await page.getByLabel('Outcome').selectOption('KO');
      await page.getByLabel('How do you know?').fill('They told me');
      await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
      await page.getByText('The processor said otherwise, and its word counts: OK.').waitFor();
    });

    it('acknowledges what freezes no hold', async () => {
      const sent = Promise.withResolvers<unknown>();
      await answer('/reviews', { items: [{ ...item, reason: 'CONTRADICTED', contradictions: [FOREIGN] }] });
      await give(`/reviews/${ID}/acknowledge`, async (route) => {
        sent.resolve(route.request().postDataJSON());
        await route.fulfill({ json: { requestId: ID, acknowledged: 1 } });
      });
      await open('reviews');
      await page.getByText('Charged by somebody else').waitFor();
      await page.getByRole('button', { name: `Acknowledge ${ID}` }).click();
      await page.getByLabel('What did you find?').fill('Their mistake');
      await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
      await page.getByText('Acknowledged.').waitFor();
      assert.deepEqual(await sent.promise, { reason: 'Their mistake' });
    });
  });
});
