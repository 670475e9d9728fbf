import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Page } from 'playwright-core';
import { checkoutRequest, type Fixture } from '../fixture.ts';
import { openPage, pay, submit } from './browse.ts';

type Terms = Parameters<typeof checkoutRequest>[0];

/** Opens a checkout with an order's reference and a return URL. */
export async function opened(fixture: Fixture, terms: Terms = {}): Promise<{ requestId: string; url: string }> {
  const wanted = checkoutRequest({ merchantReference: 'order-7', returnUrl: 'https://shop.example/', ...terms });
  const { checkoutUrl } = await fixture.client.createCheckout(wanted);
  return { requestId: wanted.requestId, url: checkoutUrl };
}

async function after(fixture: Fixture, act: (url: string) => Promise<unknown>, terms: Terms = {}): Promise<string> {
  const { url } = await opened(fixture, terms);
  await act(url);
  return url;
}

const cancel = async (url: string) => submit(url, { formToken: (await openPage(url)).formToken, action: 'cancel' });

/** How to reach each state of the page; returns the address that shows it. */
export const STATES: Readonly<Record<string, (fixture: Fixture) => Promise<string>>> = {
  form: (fixture) => after(fixture, async () => {}, { saveCard: true }),
  declined: (fixture) => after(fixture, (url) => pay(url, { number: '4000000000009995' })),
  challenged: (fixture) => after(fixture, (url) => pay(url, { number: '4000000000003220' })),
  approved: (fixture) => after(fixture, pay),
  'approved without a way back': (fixture) => after(fixture, pay, { returnUrl: '' }),
  failed: (fixture) => after(fixture, (url) => pay(url, { number: '4000000000000119' })),
  cancelled: (fixture) => after(fixture, cancel, { returnUrl: '' }),
  expired: (fixture) => after(fixture, async () => {}, { expiresAt: timestampFromMs(fixture.clock.now()) }),
  unknown: async (fixture) => new URL('/checkout/unknown', (await opened(fixture)).url).href,
};

/** Submits invalid input. */
export async function submitMistakes(page: Page): Promise<void> {
  await page.locator('#number').fill('4242 4242 4242 4241');
  await page.locator('#expiry').fill('01/20');
  await page.locator('[data-card] button').click();
  await page.locator('[role=alert]').waitFor();
}
