/**
 * The README's commands, word by word. Exempt are the three that install and run everything, since they would run themselves:
 * .ci/run gives the install and the tests on a fresh clone, test/operate the launcher, and test/flow the demo's steps.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { openLog } from '../../proto/log.ts';
import { startMerchant } from '../../services/merchant/merchant.ts';
import { readSettings } from '../../services/merchant/settings.ts';
import { asOperator } from '../../services/quickstart/as-operator.ts';
import { banner } from '../../services/quickstart/banner.ts';
import { freePort } from '../../services/quickstart/port.ts';
import type { QuickstartFile } from '../../services/quickstart/quickstart.ts';
import { untilKnown } from '../../services/quickstart/until-served.ts';
import { readCodeBlocks } from '../docs/code-blocks.ts';
import { isInstalled } from '../docs/is-installed.ts';
import { useStack } from '../stack.ts';

const EXEMPT = ['npm ci && npm start\n', 'npm ci && npm run demo\n', 'npm ci && npm test\n'];
const commands = readCodeBlocks('README.md').flatMap(({ language, code }) => (language === 'sh' ? [code] : []));

describe('the commands in the README', () => {
  let folder: string;
  let merchant: Awaited<ReturnType<typeof openMerchant>>;
  let output: string;

  before(async function () {
    this.timeout(90_000);
    for (const program of ['bash', 'curl', 'openssl']) if (!isInstalled(program)) this.skip();
    const { file } = await useStack();
    folder = await mkdtemp(`${tmpdir()}/holdfast-readme-`);
    const dataDir = `${folder}/.data`;
    await mkdir(dataDir);
    merchant = await openMerchant(file, dataDir);
    await writeFile(`${dataDir}/quickstart.json`, JSON.stringify(merchant.file));
    await banner({ file: merchant.file, dataDir, note: undefined });
    const script = commands.filter((command) => !EXEMPT.includes(command)).join('\n');
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
    const options = { cwd: folder, env: { ...process.env, PATH }, timeout: 60_000 };
    ({ stdout: output } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], options));
  });

  after(async () => {
    await merchant?.close();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  it('start it, play it and test it in one line each', () => {
    for (const command of EXEMPT) assert(commands.includes(command), command);
  });

  it('place a hold and capture it in two parts', () => {
    assert.match(output, /"preauthorizationId":"pre_/);
    assert.match(output, /"amountCaptured":400,"amountRemaining":650,"amountReleased":0,/);
    assert.match(output, /"amountCaptured":500,"amountRemaining":0,"amountReleased":150,/);
    assert.match(output, /"status":"CAPTURED","amount":1050,/);
  });

  it('see the verified notification', () => {
    assert.match(output, /"statusInfo":"captured"/);
    assert.match(output, /"verified":true/);
  });

  it('open a checkout', () => {
    assert.match(output, /"checkoutUrl":"http/);
  });

  it('ask core as an internal service', () => {
    assert.match(output, /"amountReleased":"150"/);
  });

  it('send a signed and a forged notification through the relay', () => {
    assert.match(output, /200\n401\n/);
  });

  it('make the secrets of a deployment', async () => {
    const made = await readFile(`${folder}/.env`, 'utf8');
    assert.match(made, /^OPERATOR_TOKEN=[\w-]{43}$/m);
    assert.match(made, /^ENCRYPTION_KEYS=k1:[\w+/]{43}=$/m);
  });
});

/** A merchant of the README's own, with its backend: what other tests forge is not counted against it. */
async function openMerchant(stack: QuickstartFile, dataDir: string) {
  const merchantId = 'readme';
  const port = String(await freePort());
  const demoMerchantUrl = `http://127.0.0.1:${port}`;
  const terms = { currencies: ['EUR'], terminals: ['till-1'], allowMultipleCaptures: true };
  const contract = { ...terms, webhookUrl: stack.baseUrl, internalUrl: demoMerchantUrl };
  const { apiKey, signingSecret } = await asOperator(stack, (merchants) =>
    merchants.createMerchant({ merchantId, name: 'README', contract }),
  );
  const settings = readSettings({
    MERCHANT_PORT: port,
    MERCHANT_DATA: `${dataDir}/merchant.sqlite`,
    SIGNING_SECRETS: JSON.stringify({ [merchantId]: [signingSecret] }),
  });
  const { close } = await startMerchant(settings, openLog('test', 'silent'));
  await untilKnown(stack.baseUrl, apiKey);
  return { file: { ...stack, demoMerchantUrl, merchantId, apiKey, signingSecret }, close };
}
