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
import { signingSecret } from '../signing-secret.ts';
import { namedCode } from './code-blocks.ts';
import { isInstalled } from './is-installed.ts';
import { nodeOfReaders } from './node-of-readers.ts';
import { SERVICE_CASES, SIGNED_TEXTS, STANDARD_CASES, type Verdict } from './webhook-cases.ts';

const block = namedCode('verify-webhooks.md');
const run = promisify(execFile);

/** Runs the document's code on all cases and returns its verdicts, in order. */
type Judge = (directory: string) => Promise<Judged>;

interface Judged {
  readonly service: Verdict[];
  readonly standard: Verdict[];
  /** The X-Service-Signature of each of SIGNED_TEXTS. */
  readonly signatures: string[];
}

const SECRET = signingSecret('reader');

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
      JSON.stringify({ service: SERVICE_CASES, standard: STANDARD_CASES, texts: SIGNED_TEXTS }),
    );
  });
  after(() => rm(directory, { recursive: true }));

  async function judges(judge: Judge) {
    const judged = await judge(directory);
    const told = (cases: readonly { name: string }[], verdicts: Verdict[]) =>
      cases.map(({ name }, index) => ({ name, verified: verdicts[index] }));
    assert.deepEqual(told(SERVICE_CASES, judged.service), EXPECTED.service);
    assert.deepEqual(told(STANDARD_CASES, judged.standard), EXPECTED.standard);
    assert.deepEqual(
      judged.signatures,
      SIGNED_TEXTS.map(({ signature }) => signature),
    );
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
    const judge = `from verify import *; print(verify_standard_webhook(['${SECRET}'], b'', '\\udcff', '1', 'v1,\\udcff', 1))`;
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
  await writeFile(join(directory, 'verify.mjs'), block('verify.mjs'));
  await writeFile(join(directory, 'judge.mjs'), NODE);
  const { judge } = await import(pathToFileURL(join(directory, 'judge.mjs')).href);
  return judge(SERVICE_CASES, STANDARD_CASES, SIGNED_TEXTS);
};

const NODE = `
import { readFileSync } from 'node:fs';
import { serviceSignature, verifyServiceSignature, verifyStandardWebhook } from './verify.mjs';
const verdict = (verify) => { try { return verify(); } catch { return 'throws'; } };
export const judge = (service, standard, texts) => ({
  service: service.map((c) => verdict(() => verifyServiceSignature(c.secrets, Buffer.from(c.body), c.header))),
  standard: standard.map((c) =>
    verdict(() => verifyStandardWebhook(c.secrets, Buffer.from(c.body), c.id, c.timestamp, c.signature, c.now)),
  ),
  signatures: texts.map((c) => serviceSignature(c.secret, c.fields)),
});
if (process.argv[1]?.endsWith('driver-verify.mjs')) {
  const { service, standard, texts } = JSON.parse(readFileSync('cases.json', 'utf8'));
  console.log(JSON.stringify(judge(service, standard, texts)));
}`;

const PYTHON = `
import json
from verify import *
def verdict(verify, *args):
    try:
        return verify(*args)
    except ValueError:
        return "throws"
cases = json.load(open("cases.json", encoding="utf-8"))
print(json.dumps({
    "service": [
        verdict(verify_service_signature, c["secrets"], c["body"].encode("utf-8"), c["header"])
        for c in cases["service"]
    ],
    "standard": [
        verdict(
            verify_standard_webhook,
            c["secrets"], c["body"].encode("utf-8"), c["id"], c["timestamp"], c["signature"], c["now"],
        )
        for c in cases["standard"]
    ],
    "signatures": [
        service_signature(c["secret"], [text.encode("utf-8") for text in c["fields"]]).decode()
        for c in cases["texts"]
    ],
}))`;

const PHP = `<?php
require 'verify.php';
$cases = json_decode(file_get_contents('cases.json'), true);
function verdict(callable $verify) { try { return $verify(); } catch (InvalidArgumentException) { return 'throws'; } }
echo json_encode([
    'service' => array_map(
        fn ($c) => verdict(fn () => verify_service_signature($c['secrets'], $c['body'], $c['header'])),
        $cases['service'],
    ),
    'standard' => array_map(
        fn ($c) => verdict(fn () => verify_standard_webhook(
            $c['secrets'], $c['body'], $c['id'], $c['timestamp'], $c['signature'], $c['now'],
        )),
        $cases['standard'],
    ),
    'signatures' => array_map(fn ($c) => service_signature($c['secret'], $c['fields']), $cases['texts']),
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
  const lines = [
    block('verify.sh'),
    // Each verdict in a shell of its own, which a malformed secret ends with 2.
    `tell() { ( "$@" ) 2>&-; case $? in 0) echo true ;; 2) echo throws ;; *) echo false ;; esac; }`,
  ];
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
  for (const { secret, fields } of SIGNED_TEXTS) {
    lines.push(`service_signature ${[secret, ...fields].map(quote).join(' ')}; echo`);
  }
  await writeFile(join(directory, 'driver.sh'), lines.join('\n'));
  const { stdout } = await run('bash', ['driver.sh'], { cwd: directory });
  const told = stdout.trim().split('\n');
  const verdicts = told.map((line) => (line === 'throws' ? line : line === 'true'));
  const count = SERVICE_CASES.length + STANDARD_CASES.length;
  return {
    service: verdicts.slice(0, SERVICE_CASES.length),
    standard: verdicts.slice(SERVICE_CASES.length, count),
    signatures: told.slice(count),
  };
};
