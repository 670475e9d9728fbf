import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { type SignedFields, signNotification } from '../../client/webhooks/signature.ts';
import { LOG_FIELDS } from '../../platform/log.ts';
import { payAtCheckout } from '../../services/quickstart/customer.ts';
import { TEST_CARDS } from '../../services/sandbox/checkout/test-card.ts';
import { type Stack, useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

/** Runs last in test/flow because of its name: the logs then contain what nearly all other tests did. */
describe('what is logged', () => {
  let logs: string;
  let lines: { file: string; text: string }[];
  let answers: string[];
  const stack = forSuite(useStack);

  before(async () => {
    await act(stack);
    const folder = `${stack.dataDir}/logs`;
    const files = (await readdir(folder)).map((name) => `${folder}/${name}`);
    assert(files.length >= 5);
    lines = (await Promise.all(files.map(linesOf))).flat();
    const texts = await Promise.all(
      [...files, String(process.env.TEST_DATABASE_LOG)].map((file) => readFile(file, 'utf8')),
    );
    logs = texts.join('\n');
    answers = await stack.answers();
  });

  it('is something', () => {
    for (const process of ['core', 'gateway', 'worker']) assert.match(logs, new RegExp(`"${process}"`), process);
  });

  it('is JSON lines with fields of the one list, and an event', () => {
    const known = new Set<string>(['level', 'time', 'process', 'event', ...LOG_FIELDS]);
    const processes = new Set<string>();
    for (const { file, text } of lines) {
      const line = JSON.parse(text) as Record<string, unknown>;
      const unknown = Object.keys(line).filter((name) => !known.has(name));
      assert.deepEqual(unknown, [], `${file}: ${text}`);
      assert(line.event, text);
      processes.add(String(line.process));
    }
    assert.deepEqual([...processes].sort(), ['core', 'gateway', 'merchant', 'sandbox', 'worker']);
  });

  it('is no preauthorizationId', () => {
    assert.doesNotMatch(logs, /pre_[A-Za-z0-9_-]{32}/);
    const ids = answers.flatMap((answer) => answer.match(/pre_[A-Za-z0-9_-]{32}/g) ?? []);
    assert(ids.length > 0);
    absent(ids);
  });

  it('is no API key, token or secret', async () => {
    assert.doesNotMatch(logs, /hf_[A-Za-z0-9_-]{43}|whsec_[A-Za-z0-9+/]{8}/);
    const secrets = Object.values(JSON.parse(await readFile(`${stack.dataDir}/secrets.json`, 'utf8'))) as string[];
    const { apiKey, signingSecret, singleCapture } = stack.file;
    absent([...secrets, apiKey, signingSecret, singleCapture.apiKey, singleCapture.signingSecret]);
    absent([signingSecret.slice('whsec_'.length), String(secrets[0]).slice('k1:'.length)]);
  });

  it('is no signature', async () => {
    const received = await (await fetch(`${stack.file.demoMerchantUrl}/received`)).json();
    const bodies = (received as { body: Record<string, unknown> }[]).map((item) => item.body);
    assert(bodies.length > 0);
    absent(
      bodies.map((body) =>
        signNotification(stack.file.signingSecret, { ...body, amount: String(body.amount) } as unknown as SignedFields),
      ),
    );
  });

  it('is no card number, card token or checkout address', () => {
    absent(TEST_CARDS.map(({ number }) => number));
    assert.doesNotMatch(logs, /tok_[A-Za-z0-9]/);
    const capabilities = answers.flatMap((answer) => /\/checkout\/([A-Za-z0-9_-]{20,})/.exec(answer)?.[1] ?? []);
    assert(capabilities.length > 0);
    absent(capabilities);
  });

  const absent = (values: string[]) => {
    for (const [index, value] of values.entries())
      assert(!logs.includes(value), `the ${index + 1}. of ${values.length}`);
  };
});

/** The lines of a process's log; PostgreSQL's own log is not JSON. */
async function linesOf(file: string): Promise<{ file: string; text: string }[]> {
  if (file.endsWith('/postgres.log')) return [];
  const texts = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  return texts.map((text) => ({ file, text }));
}

/** Produces a little of everything that could leave a trace, for when this file runs alone. */
async function act({ shop, file }: Stack): Promise<void> {
  const order = { currency: 'EUR', terminalId: 'till-1', userId: 'ann', amount: 1000 };
  const placed = await shop.post('/preauthorization', { ...order, tokenId: 'tok_sandbox_ok' });
  const { preauthorizationId } = placed.body;
  const key = { 'Idempotency-Key': '4242424242424242' };
  assert.equal((await shop.post('/preauthorization', { ...order, tokenId: 'tok_sandbox_ok' }, key)).status, 201);
  const captured = await shop.post('/preauthorization/authorization', { preauthorizationId, amountToCapture: 500 });
  await shop.post('/preauthorization/authorization', { preauthorizationId, amountToCapture: 5000 });
  const opened = await shop.post('/preauthorization', { ...order, saveCard: true });
  await payAtCheckout(opened.body.checkoutUrl, '4242424242424242');
  await shop.post('/webhook/processor/payment/captured', {
    merchantId: file.merchantId,
    signature: file.signingSecret,
  });
  await shop.get(`/preauthorization/${preauthorizationId}`);
  await shop.notified(captured.body.requestId, 'captured');
  await shop.notified(opened.body.requestId, 'authorized');
}
