import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { openLog } from '../../platform/log.ts';
import { readSettings } from '../../platform/settings.ts';
import { startMerchant } from '../../services/merchant/merchant.ts';
import { MERCHANT_SETTINGS } from '../../services/merchant/settings.ts';
import { namedCode } from './code-blocks.ts';
import { isInstalled } from './is-installed.ts';
import { nodeOfReaders } from './node-of-readers.ts';
import { SERVICE_CASES, STANDARD_CASES } from './webhook-cases.ts';

const block = namedCode('verify-webhooks.md');
const run = promisify(execFile);

/** Runs the document's code on all cases and returns its verdicts, in order. */
type Judge = (directory: string) => Promise<{ service: boolean[]; standard: boolean[] }>;

const EXPECTED = {
  service: SERVICE_CASES.map(({ name, verified }) => ({ name, verified })),
  standard: STANDARD_CASES.map(({ name, verified }) => ({ name, verified })),
};

describe('docs/verify-webhooks.md', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-docs-'));
    await writeFile(
      join(directory, 'cases.json'),
      JSON.stringify({ service: SERVICE_CASES, standard: STANDARD_CASES }),
    );
  });
  after(() => rm(directory, { recursive: true }));

  async function judges(judge: Judge) {
    const judged = await judge(directory);
    const told = (cases: readonly { name: string }[], verdicts: boolean[]) =>
      cases.map(({ name }, index) => ({ name, verified: verdicts[index] }));
    assert.deepEqual(told(SERVICE_CASES, judged.service), EXPECTED.service);
    assert.deepEqual(told(STANDARD_CASES, judged.standard), EXPECTED.standard);
  }

  it('verifies with Node', () => judges(judgeWithNode));
  it("verifies with the reader's Node, 20 or newer", async () => {
    const program = join(await nodeOfReaders(), 'node');
    await judges((directory) => judgeWith(directory, { file: 'verify.mjs', program, driver: NODE }));
  });
  it('verifies with Python', async function () {
    if (!isInstalled('python3')) this.skip();
    await judges((directory) => judgeWith(directory, { file: 'verify.py', program: 'python3', driver: PYTHON }));
  });
  it('rejects with Python a webhook-id that is no UTF-8', async function () {
    if (!isInstalled('python3')) this.skip();
    await writeFile(join(directory, 'verify.py'), block('verify.py'));
    const judge = `from verify import *; print(verify_standard_webhook(['QUJD'], b'', '\\udcff', '1', 'v1,\\udcff', 1))`;
    const { stdout } = await run('python3', ['-c', judge], { cwd: directory });
    assert.equal(stdout, 'False\n');
  });
  // Skipped where there is no php; nothing else here needs it.
  it('verifies with PHP', async function () {
    if (!isInstalled('php')) this.skip();
    await judges((directory) => judgeWith(directory, { file: 'verify.php', program: 'php', driver: PHP }));
  });
  it('verifies with openssl', async function () {
    if (!isInstalled('bash') || !isInstalled('openssl')) this.skip();
    await judges(judgeWithShell);
  });

  it('puts the notifications of each hold in order', async () => {
    const file = join(directory, 'order.mjs');
    await writeFile(file, block('order.mjs'));
    const { inOrder } = await import(pathToFileURL(file).href);
    const applied: string[] = [];
    const take = inOrder(({ name }: { name: string }) => applied.push(name));
    const of = (holdRequestId: string, sequence: number) => ({
      holdRequestId,
      sequence,
      name: `${holdRequestId} ${sequence}`,
    });
    for (const each of [of('b', 1), of('a', 3), of('a', 2), { requestId: 'oct', name: 'oct' }]) take(each);
    take({ requestId: 'a', sequence: 1, name: 'a 1' });
    for (const each of [of('a', 2), of('b', 2)]) take(each);
    assert.deepEqual(applied, ['b 1', 'oct', 'a 1', 'a 2', 'a 3', 'b 2']);
  });

  it('sends a notification with curl that the demo merchant accepts', async function () {
    if (!isInstalled('curl') || !isInstalled('openssl')) this.skip();
    const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    const settings = readSettings(MERCHANT_SETTINGS, {
      MERCHANT_PORT: '0',
      SIGNING_SECRETS: JSON.stringify({ acme: [SECRET] }),
      MERCHANT_DATA: join(directory, 'merchant.sqlite'),
    });
    const merchant = await startMerchant(settings, { log: openLog('test', 'silent') });
    try {
      const env = { ...process.env, SECRET, RECEIVER: `http://127.0.0.1:${merchant.port}`, no_proxy: '127.0.0.1' };
      const script = block('verify.sh') + block('send.sh');
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: directory, env });
      assert.equal(stdout, '{"received":true,"duplicate":false} 200\n');
    } finally {
      await merchant.close();
    }
  });
});

const judgeWithNode: Judge = async (directory) => {
  const file = join(directory, 'verify.mjs');
  await writeFile(file, block('verify.mjs'));
  const { verifyServiceSignature, verifyStandardWebhook } = await import(pathToFileURL(file).href);
  return {
    service: SERVICE_CASES.map(({ secrets, body, header }) =>
      verifyServiceSignature(secrets, Buffer.from(body), header),
    ),
    standard: STANDARD_CASES.map(({ secrets, body, id, timestamp, signature, now }) =>
      verifyStandardWebhook(secrets, Buffer.from(body), id, timestamp, signature, now),
    ),
  };
};

const NODE = `
import { readFileSync } from 'node:fs';
import { verifyServiceSignature, verifyStandardWebhook } from './verify.mjs';
const cases = JSON.parse(readFileSync('cases.json', 'utf8'));
console.log(JSON.stringify({
  service: cases.service.map((c) => verifyServiceSignature(c.secrets, Buffer.from(c.body), c.header)),
  standard: cases.standard.map((c) =>
    verifyStandardWebhook(c.secrets, Buffer.from(c.body), c.id, c.timestamp, c.signature, c.now),
  ),
}));`;

const PYTHON = `
import json
from verify import *
cases = json.load(open("cases.json", encoding="utf-8"))
print(json.dumps({
    "service": [
        verify_service_signature(c["secrets"], c["body"].encode("utf-8"), c["header"])
        for c in cases["service"]
    ],
    "standard": [
        verify_standard_webhook(
            c["secrets"], c["body"].encode("utf-8"), c["id"], c["timestamp"], c["signature"], c["now"]
        )
        for c in cases["standard"]
    ],
}))`;

const PHP = `<?php
require 'verify.php';
$cases = json_decode(file_get_contents('cases.json'), true);
echo json_encode([
    'service' => array_map(
        fn ($c) => verify_service_signature($c['secrets'], $c['body'], $c['header']),
        $cases['service'],
    ),
    'standard' => array_map(
        fn ($c) => verify_standard_webhook(
            $c['secrets'], $c['body'], $c['id'], $c['timestamp'], $c['signature'], $c['now'],
        ),
        $cases['standard']
    ),
]);`;

async function judgeWith(
  directory: string,
  { file, program, driver }: { file: string; program: string; driver: string },
) {
  await writeFile(join(directory, file), block(file));
  await writeFile(join(directory, `driver-${file}`), driver);
  const { stdout } = await run(program, [`driver-${file}`], { cwd: directory });
  return JSON.parse(stdout);
}

/** The shell functions check the fields against one secret; they cannot read the fields of a malformed body. */
const judgeWithShell: Judge = async (directory) => {
  const lines = [block('verify.sh'), 'tell() { if "$@"; then echo true; else echo false; fi; }'];
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const each = (secrets: readonly string[], command: (secret: string) => string) =>
    lines.push(`any() { ${secrets.map((secret) => `${command(secret)} && return 0; `).join('')} return 1; }; tell any`);
  for (const { secrets, fields, header } of SERVICE_CASES) {
    const words = fields && Object.values(fields).map(quote).join(' ');
    each(
      words === undefined ? [] : secrets,
      (secret) => `verify_service_signature ${quote(header)} ${quote(secret)} ${words}`,
    );
  }
  for (const [index, { secrets, id, timestamp, signature, now, body }] of STANDARD_CASES.entries()) {
    await writeFile(join(directory, `body-${index}`), body);
    const rest = [id, timestamp, `body-${index}`, String(now)].map(quote).join(' ');
    each(secrets, (secret) => `verify_webhook_signature ${quote(signature)} ${quote(secret)} ${rest}`);
  }
  await writeFile(join(directory, 'driver.sh'), lines.join('\n'));
  const { stdout } = await run('bash', ['driver.sh'], { cwd: directory });
  const verdicts = stdout
    .trim()
    .split('\n')
    .map((line) => line === 'true');
  return { service: verdicts.slice(0, SERVICE_CASES.length), standard: verdicts.slice(SERVICE_CASES.length) };
};
