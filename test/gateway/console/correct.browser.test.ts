/** An operator corrects what a processor contradicted, from the review to the trail of it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { credentials } from '@grpc/grpc-js';
import type { Browser, Locator, Page } from 'playwright-core';
import { v7 as uuidv7 } from 'uuid';
import { openChannel } from '../../../platform/grpc-client.ts';
import { ProcessorEventService } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Stack, useStack } from '../../stack.ts';
import { CHROMIUM, openBrowser, openPage } from './browser.ts';

const ORDER = { tokenId: 'tok_sandbox_ok', amount: 1_050, currency: 'EUR', terminalId: 'till-1', userId: 'ann' };

describe(`a correction in the console${CHROMIUM ? '' : ' (skipped: there is no /usr/bin/chromium)'}`, function () {
  this.timeout(120_000);
  let stack: Stack;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  before(async function () {
    if (CHROMIUM === undefined) this.skip();
    stack = await useStack();
    browser = await openBrowser();
    ({ page, complaints } = await openPage(browser));
    await page.goto(`${stack.file.baseUrl}/console`);
    await page.getByLabel('Operator token').fill(stack.file.operatorToken);
    await page.getByLabel('Your name').fill('Grace');
    await button('Sign in').click();
    await page.getByRole('banner').waitFor();
  });
  after(async () => browser?.close());

  const button = (name: string | RegExp, within: Page | Locator = page) => within.getByRole('button', { name });
  const go = (path: string) => page.goto(`${stack.file.baseUrl}/console#/${path}`);
  const dialog = () => page.getByRole('dialog');
  const contradicted = (within: Locator) => within.getByLabel('What the processor contradicted');

  /** Has the processor report that it has not done what it had approved. */
  async function contradict(requestId: string): Promise<string> {
    const { processorToken: token } = JSON.parse(await readFile(`${stack.dataDir}/secrets.json`, 'utf8'));
    const address = stack.file.coreUrl;
    const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 10_000 });
    const result = { answer: Answer.NOT_PERFORMED, requestId, errorCode: 'undone', errorMessage: 'It was undone' };
    const event = { case: 'operationSettled', value: { requestId, result } } as const;
    const eventId = uuidv7();
    await channel.client(ProcessorEventService).reportEvent({ eventId, occurredAt: timestampNow(), event });
    channel.close();
    return eventId;
  }

  it('shows what contradicted what, is refused where it is told already, and moves the books', async () => {
    const hold = (await stack.shop.post('/preauthorization', ORDER)).body;
    const { preauthorizationId } = hold;
    const capture = { preauthorizationId, amountToCapture: 400 };
    const { requestId } = (await stack.shop.post('/preauthorization/authorization', capture)).body;
    const eventId = await contradict(requestId);

    await go('reviews?reason=FROZEN');
    const item = page.getByRole('row').filter({ has: page.locator(`a[href="#/holds/${hold.requestId}"]`) });
    await item.getByText('Another result').waitFor();
    await item.getByRole('link').click();
    const summary = page.getByLabel('Summary');
    await summary.getByText('The processor said another result than was told').waitFor();
    await button(`Correct… ${requestId}`).click();
    await page.getByRole('heading', { name: 'How did it end in truth?' }).waitFor();
    await dialog().getByText('Capture of €4.00 for').waitFor();
    const sides = contradicted(dialog());
    await sides.getByText('Another result').waitFor();
    const said = (await sides.textContent()) ?? '';
    assert(said.includes(`by the event ${eventId}`), said);
    assert.match(said, /: Not performed.*· here: OK €4\.00/i);

    await dialog().getByLabel('Outcome').selectOption('OK');
    await dialog().getByLabel('How do you know?').fill('Their books say so');
    await button('Correct', dialog()).click();
    await dialog().getByRole('alert').waitFor();
    assert.match(complaints.splice(0).join(), /^Failed to load resource:[^,]* 409 [^,]*$/);
    assert.equal((await stack.shop.get(`/preauthorization/${hold.requestId}`)).body.amountCaptured, 400);

    await dialog().getByLabel('Outcome').selectOption('KO');
    const sent = page.waitForRequest(/\/correct$/);
    await button('Correct', dialog()).click();
    assert.deepEqual((await sent).postDataJSON(), { outcome: 'KO', reason: 'Their books say so' });
    await page.locator('.notices', { hasText: 'Corrected.' }).waitFor();
    await contradicted(summary).waitFor({ state: 'detached' });
    await button(/^Capture…/).waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: `of ${requestId}` })
      .first()
      .waitFor();
    const { body } = await stack.shop.get(`/preauthorization/${hold.requestId}`);
    assert.deepEqual([body.amountCaptured, body.amountRemaining, body.captures[0].status], [0, 1_050, 'KO']);

    await go(`operations/${requestId}`);
    await contradicted(page.getByLabel('Summary')).getByText('resolved by operator/Grace: corrected').waitFor();
    await go('audit');
    const entry = page.getByRole('row').filter({ hasText: requestId }).filter({ hasText: 'Their books say so' });
    await entry.first().getByText('operator/Grace').waitFor();
    assert.deepEqual(complaints, []);
  });
});
