/**
 * Retakes the pictures in docs/screenshots: `npm run screenshots`. Starts the whole service, simulates merchants and
 * customers for three minutes (or the number given as the first argument), and takes screenshots in Chromium.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { signNotification } from '../../client/webhooks/signature.ts';
import { removeDataDir } from '../../services/quickstart/data-dir.ts';
import { freeOuterPorts } from '../../services/quickstart/ports.ts';
import { type QuickstartFile, startQuickstart } from '../../services/quickstart/quickstart.ts';
import { readSettings } from '../../services/quickstart/settings.ts';
import { openShop, type Shop } from '../../services/quickstart/shop.ts';
import { CHROMIUM, openBrowser, openPage } from '../gateway/console/browser.ts';

const FOLDER = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url));
const SIZES = { desktop: { width: 1160, height: 780 }, phone: { width: 390, height: 844 } } as const;

/** One picture; its file is `<name>-<size>-<scheme>.png`. */
interface Picture {
  readonly name: string;
  readonly size: keyof typeof SIZES;
  readonly scheme: 'light' | 'dark';
  /** Navigates to the view; the console is signed in already. */
  readonly show: (page: Page, scene: Scene) => Promise<unknown>;
}

/** The pictures. */
interface Scene {
  readonly file: QuickstartFile;
  readonly holdRequestId: string;
  readonly checkoutUrl: string;
}

const overview = async (page: Page) => {
  await page.locator('.live li').nth(9).waitFor();
  await page.locator('.chart').first().waitFor();
};
const at =
  (path: string) =>
  async (page: Page, { file }: Scene) => {
    await page.goto(`${file.baseUrl}/console#/${path}`);
    await page.locator('.loaded table').first().waitFor();
  };
const hold = async (page: Page, { file, holdRequestId }: Scene) => {
  await page.goto(`${file.baseUrl}/console#/holds/${holdRequestId}`);
  await page.locator('.timeline > li').nth(7).waitFor();
};
const capture = async (page: Page, scene: Scene) => {
  await hold(page, scene);
  await page.getByRole('button', { name: 'Capture…' }).click();
  await page.getByLabel('Amount in EUR').fill('2.50');
  await page.getByRole('button', { name: 'Continue' }).click();
};
const checkout = (page: Page, { checkoutUrl }: Scene) => page.goto(checkoutUrl);

const PICTURES: readonly Picture[] = [
  { name: 'overview', size: 'desktop', scheme: 'light', show: overview },
  { name: 'overview', size: 'phone', scheme: 'dark', show: overview },
  { name: 'hold', size: 'desktop', scheme: 'dark', show: hold },
  { name: 'hold', size: 'phone', scheme: 'light', show: hold },
  { name: 'capture', size: 'phone', scheme: 'dark', show: capture },
  { name: 'holds', size: 'desktop', scheme: 'light', show: at('holds') },
  { name: 'relay', size: 'desktop', scheme: 'dark', show: at('relay') },
  { name: 'merchant', size: 'desktop', scheme: 'light', show: at('merchants/demo') },
  { name: 'checkout', size: 'desktop', scheme: 'light', show: checkout },
  { name: 'checkout', size: 'phone', scheme: 'dark', show: checkout },
];

const ORDER = { currency: 'EUR', terminalId: 'till-1', userId: 'ann' };
const OUTCOMES = ['ok', 'ok', 'ok', 'declined', 'ok', 'ok', 'insufficient_funds', 'ok', 'ok', 'capture_declined'];

await main(Number(process.argv[2] ?? 3));

async function main(minutes: number): Promise<void> {
  if (CHROMIUM === undefined) throw new Error('pictures need Chromium in /usr/bin');
  const dataDir = await mkdtemp(`${tmpdir()}/holdfast-screenshots-`);
  const environment = { ...process.env, ...(await freeOuterPorts()), DATA_DIR: dataDir, DATABASE_URL: '' };
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const service = await startQuickstart(readSettings(environment), say, new AbortController().signal);
  const browser = await openBrowser();
  try {
    say(`busy for ${minutes} minutes`);
    const scene = await play(service.file, minutes);
    for (const picture of PICTURES) say(await take(browser, picture, scene));
  } finally {
    await browser.close();
    await service.stop();
    await removeDataDir(dataDir);
  }
}

/** Simulates one or more customers a second, and forgers. Ends with a hold whose timeline has many events. */
async function play(file: QuickstartFile, minutes: number): Promise<Scene> {
  const shop = openShop(file);
  for (let second = 0; second < minutes * 60; second += 1) {
    const started = performance.now();
    for (let customer = 0; customer <= (second % 40) / 12; customer += 1) await buy(shop, second * 7 + customer * 3);
    if (second % 13 === 0) await notify(file, shop, 'captured', second % 2 === 0);
    await delay(Math.max(0, 1_000 - (performance.now() - started)));
  }
  await notify(file, shop, 'declined', true);
  const { body } = await shop.post('/preauthorization', {
    ...ORDER,
    tokenId: 'tok_sandbox_ok',
    amount: 1050,
    merchantReference: 'order-7',
    metadata: { basket: '42' },
  });
  await shop.notified(body.requestId, 'authorized');
  const first = { preauthorizationId: body.preauthorizationId, amountToCapture: 400 };
  await shop.notified((await shop.post('/preauthorization/authorization', first)).body.requestId, 'captured');
  const returnUrl = `${file.demoMerchantUrl}/return`;
  const order = { ...ORDER, amount: 10_050, merchantReference: 'order-8', returnUrl, saveCard: true };
  const opened = await shop.post('/preauthorization', order);
  return { file, holdRequestId: body.requestId, checkoutUrl: opened.body.checkoutUrl };
}

async function buy(shop: Shop, number: number): Promise<void> {
  const amount = 500 + ((number * 397) % 9_000);
  const tokenId = `tok_sandbox_${OUTCOMES[number % OUTCOMES.length]}`;
  const order = {
    ...ORDER,
    tokenId,
    amount,
    userId: `user-${number % 17}`,
    merchantReference: `order-${100 + number}`,
  };
  const { body } = await shop.post('/preauthorization', order);
  if (body.preauthorizationId === undefined || number % 4 === 3) return;
  const { preauthorizationId } = body;
  const amountToCapture = number % 3 === 0 ? amount : Math.floor(amount / 2);
  await shop.post('/preauthorization/authorization', { preauthorizationId, amountToCapture });
}

async function notify(file: QuickstartFile, shop: Shop, statusInfo: string, isGenuine: boolean): Promise<void> {
  const fields = {
    merchantId: file.merchantId,
    requestId: randomUUID(),
    status: 'OK',
    amount: '10.50',
    currency: 'EUR',
  };
  const body = JSON.stringify({ ...fields, reference: 'ref-1', finalStateDate: new Date().toISOString() });
  const signature = isGenuine ? signNotification(file.signingSecret, fields) : randomBytes(32).toString('base64');
  await shop.post(`/webhook/processor/payment/${statusInfo}`, body, { 'x-service-signature': signature });
}

async function take(browser: Browser, { name, size, scheme, show }: Picture, scene: Scene): Promise<string> {
  const { page, complaints } = await openPage(browser, { viewport: SIZES[size], colorScheme: scheme });
  await page.goto(`${scene.file.baseUrl}/console`);
  await page.getByLabel('Operator token').fill(scene.file.operatorToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.live li').first().waitFor();
  await show(page, scene);
  await page.evaluate('document.activeElement.blur()');
  const path = `${FOLDER}${name}-${size}-${scheme}.png`;
  await page.screenshot({ path, animations: 'disabled' });
  await page.context().close();
  assert.deepEqual(complaints, []);
  return path;
}
