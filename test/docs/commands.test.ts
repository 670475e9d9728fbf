/**
 * Runs the commands of the README and the guides verbatim, at night twice. Three commands that install or run everything are
 * left out, since they would run these tests again: .ci/run covers the installation and the tests in a fresh clone,
 * test/operate the launcher, and test/flow the steps of the demo.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { ROOT } from '../../.ci/sources.ts';
import { openLog } from '../../platform/log.ts';
import { readSettings } from '../../platform/settings.ts';
import { startMerchant } from '../../services/merchant/merchant.ts';
import { MERCHANT_SETTINGS } from '../../services/merchant/settings.ts';
import { asOperator } from '../../services/quickstart/as-operator.ts';
import { banner } from '../../services/quickstart/banner.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import type { QuickstartFile } from '../../services/quickstart/quickstart.ts';
import { openShop } from '../../services/quickstart/shop.ts';
import { untilKnown } from '../../services/quickstart/until-served.ts';
import { atNight } from '../at-night.ts';
import { useStack } from '../stack.ts';
import { type CodeBlock, readCodeBlocks } from './code-blocks.ts';
import { isInstalled } from './is-installed.ts';
import { nodeOfReaders } from './node-of-readers.ts';

const EXEMPT = ['npm ci && npm start\n', 'npm ci && npm run demo\n', 'npm ci && npm test\n'];
const shellBlocks = (document: string) =>
  readCodeBlocks(document).filter(({ language, code }) => language === 'sh' && !EXEMPT.includes(code));
/** Blocks that only define a verifier to copy; test/docs/verify-webhooks.test.ts runs them. */
const isKit = ({ name }: CodeBlock) => name === 'verify.sh' || name === 'send.sh';
const DOCUMENTS = ['merchants', 'stories', 'grpc', 'verify-webhooks', 'settings', 'relay'].map(
  (name) => `docs/${name}.md`,
);
const commands = ['README.md', ...DOCUMENTS].flatMap(shellBlocks).filter((block) => !isKit(block));
/** At night the commands run once more: a reader may repeat them. */
const RUNS = atNight(2, 1);
/** Printed between two runs. */
const AGAIN = 'once more, from the top';

describe('the commands in the README and the guides', () => {
  let folder: string;
  let merchant: Awaited<ReturnType<typeof openMerchant>>;
  let runs: string[];

  before(async function () {
    for (const program of ['bash', 'curl', 'openssl']) if (!isInstalled(program)) this.skip();
    const { file } = await useStack();
    folder = await mkdtemp(`${tmpdir()}/holdfast-readme-`);
    // The data directory differs, as with DATA_DIR; the working directory is the project's, as a reader's is.
    const dataDir = `${folder}/elsewhere`;
    await mkdir(dataDir);
    for (const part of ['docs', 'client', 'proto', 'node_modules', 'package.json'])
      await symlink(ROOT + part, `${folder}/${part}`);
    merchant = await openMerchant(file, dataDir);
    await writeFile(`${dataDir}/quickstart.json`, `${JSON.stringify(merchant.file, null, 2)}\n`);
    await banner({ file: merchant.file, dataDir, note: undefined });
    // The README names the addresses of a first start; these are others.
    const once = commands
      .map(({ code }) => code.replaceAll('.data/', `${dataDir}/`).replaceAll('http://127.0.0.1:8080', file.baseUrl))
      .join('\n');
    const environment = { ...process.env, DATA_DIR: dataDir, PATH: `${await nodeOfReaders()}:${process.env.PATH}` };
    Object.assign(environment, { XDG_STATE_HOME: `${folder}/state` });
    const options = { cwd: folder, env: environment, timeout: 240_000 };
    const script = Array(RUNS).fill(once).join(`\necho '${AGAIN}'\n`);
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], options);
    runs = stdout.split(AGAIN);
  });

  after(async () => {
    await merchant?.close();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  /** Each run prints it. */
  const shows = (...patterns: RegExp[]) => {
    assert.equal(runs.length, RUNS);
    for (const output of runs) for (const pattern of patterns) assert.match(output, pattern);
  };

  it('start it, play it and test it in one line each', () => {
    const all = readCodeBlocks('README.md').map(({ code }) => code);
    for (const command of EXEMPT) assert(all.includes(command), command);
  });

  it('place a hold and capture it in two parts', () => {
    shows(/"preauthorizationId":"pre_/);
    shows(/"amountCaptured":400,"amountRemaining":650,"amountReleased":0,/);
    shows(/"amountCaptured":500,"amountRemaining":0,"amountReleased":150,/);
    shows(/"status":"CAPTURED","phase":"CLOSED","amount":1050,/);
  });

  it('test a webhook with a key that manages it, and see what became of the test', () => {
    shows(/"statusInfo":"test","state":"PENDING"/);
    shows(/"number":1,"startedAt":"[^"]+","latencyMs":\d+,"error":"/);
  });

  it('see the verified notifications', async () => {
    const shop = openShop(merchant.file);
    const answers = runs.flatMap((output) => output.split('\n').filter((line) => /^\{.*"captureDate".*\}$/.test(line)));
    const captured = answers.map((line) => JSON.parse(line)).filter(({ captureDate }) => captureDate !== undefined);
    assert.equal(captured.length, 11 * RUNS);
    for (const { requestId } of captured) assert((await shop.notified(requestId, 'captured')).verified);
  });

  it('change the relay over to Standard Webhooks, and take what GitHub signs', () => {
    shows(/^either: 200 and 200$/m, /^standard-webhooks: 401 and 200$/m, /^GitHub: 200 and 401$/m);
    shows(/^data: \{.*"kind":"RELAY".*"identifier":"72d3162e".*"body":"SGVsbG8sIFdvcmxkIQ=="/m);
  });

  it('open a checkout', () => {
    shows(/"checkoutUrl":"http/);
  });

  it('tell the story of a hotel: two captures of an incremented hold, a kept hold, and a no-show', () => {
    shows(/"operation":"RENEWAL","status":"OK","statusInfo":"renewed",.*"amount":90000/);
    shows(/"amountCaptured":84000,"amountRemaining":0,"amountReleased":6000,/);
    shows(/"amountCaptured":28000,"amountRemaining":3200,"amountReleased":0,.*"reason":"room"/);
    shows(/"amountCaptured":1200,"amountRemaining":0,"amountReleased":2000,/);
    shows(/"amountCaptured":15000,"amountRemaining":0,"amountReleased":0,/);
  });

  it('tell the story of a car rental: a partial release, a renewal, a delayed charge', () => {
    shows(/"release":\{"amountReleased":30000\}/, /"status":"CAPTURED".*"amountReleased":45000,/);
    shows(/"amountCaptured":9000,"amountRemaining":0,"amountReleased":6000,/);
    shows(/"amountCaptured":4000,"amountRemaining":0,.*"reason":"fine"/);
  });

  it('tell the story of a marketplace: shipments, a payout, a refund that comes back', () => {
    shows(/"amountCaptured":6000,"amountRemaining":3000,.*"merchantReference":"shipment-1"/);
    shows(/"status":"OK","amount":5400,/, /"amountRefunded":3000/);
    shows(/"operation":"REFUND_RETURN","status":"KO",.*"amount":3000/, /"amount":3000,.*"reason":"returned refund"/);
  });

  it('tell the stories of a shop and a charging station: a capture sent twice, a refund, a final capture, a release', () => {
    shows(/"amount":1200,.*"reason":"returned"/);
    shows(/"amountCaptured":2340,"amountRemaining":0,"amountReleased":3660,/);
    shows(/"status":"RELEASED".*"amountReleased":6000,.*"reason":"not charged"/);
  });

  it('call core as an internal service', () => {
    shows(
      /"state":"OPERATION_STATE_OK"/,
      /^held 2500 EUR, captured 1000$/m,
      /^authorized 2500 EUR$/m,
      /CapturePreauthorization$/m,
      /"status": *"SERVING"/,
    );
  });

  it('send a signed and a forged notification through the relay', () => {
    shows(/^200\n401$/m);
  });

  it('make a merchant, change its key, and see a notification arrive at an address of its own', () => {
    shows(/"merchantId":"shop-\d+"/, /"terminalId":"web"/, /"webhookUrl":"http:\/\/127.0.0.1:\d+"/);
    shows(/^captured +[0-9a-f-]{36} +200 +\d+ ms$/m);
  });

  it('make the secrets of a deployment', async () => {
    const made = await readFile(`${folder}/.env`, 'utf8');
    assert.match(made, /^OPERATOR_TOKEN=[\w-]{43}$/m);
    assert.match(made, /^ENCRYPTION_KEYS=k1:[\w+/]{43}=$/m);
  });

  it('show answers as the README prints them', async () => {
    for (const name of ['hold', 'capture']) {
      const printed = JSON.parse(readCodeBlocks('README.md').find((block) => block.name === name)?.code ?? '');
      const lines = (runs[0] ?? '').split('\n').filter((line) => /^\{.*\}$/.test(line));
      const answers = lines.map((line) => JSON.parse(line));
      const fixed = Object.entries(printed).filter(
        ([key, value]) => key !== 'merchantId' && !String(value).includes('…'),
      );
      const same = answers.some(
        (answer) =>
          Object.keys(printed).every((key) => key in answer) && fixed.every(([key, value]) => answer[key] === value),
      );
      assert(same, name);
    }
  });
});

/** Creates a merchant and backend for the README alone, so that forgeries by other tests are not counted against it. */
async function openMerchant(stack: QuickstartFile, dataDir: string) {
  const merchantId = 'readme';
  const port = String(await freePort());
  const demoMerchantUrl = `http://127.0.0.1:${port}`;
  const terms = { currencies: ['EUR'], terminals: ['till-1'], allowMultipleCaptures: true, allowOct: true };
  const contract = { ...terms, webhookUrl: stack.baseUrl, internalUrl: demoMerchantUrl };
  const { apiKey, signingSecret } = await asOperator(stack, (merchants) =>
    merchants.createMerchant({ merchantId, name: 'README', contract, apiKeyManagesWebhook: true }),
  );
  const settings = readSettings(MERCHANT_SETTINGS, {
    MERCHANT_PORT: port,
    MERCHANT_DATA: `${dataDir}/merchant.sqlite`,
    SIGNING_SECRETS: JSON.stringify({ [merchantId]: [signingSecret] }),
  });
  const { close } = await startMerchant(settings, { log: openLog('test', 'silent') });
  await untilKnown(stack.baseUrl, apiKey);
  return { file: { ...stack, demoMerchantUrl, merchantId, apiKey, signingSecret }, close };
}
