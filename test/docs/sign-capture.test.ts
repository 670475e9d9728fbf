import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { signCapture } from '../../docs/examples/sign-capture/sign-capture.ts';
import { CAPTURE, CAPTURE_HOLD, CAPTURE_JSON, PREAUTHORIZATION_ID } from '../gateway/rest/examples.ts';
import { API_KEY, Stage } from '../gateway/stage.ts';
import { namedCode } from './code-blocks.ts';

const block = namedCode('signed-captures.md');
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('docs/examples/sign-capture', () => {
  const stage = new Stage();
  const used = new Set<unknown>();
  let directory: string;
  let keyFile: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-docs-'));
    keyFile = join(directory, 'capture-key.pem');
    const { stdout } = await shell(block('new-key.sh').replace('capture-key.pem', keyFile));
    await stage.open();
    stage.core.answers.set('capturePreauthorization', () => ({ capture: CAPTURE }));
    stage.core.answers.set('useNonce', ({ nonce }) => ({ fresh: !used.has(nonce) && used.add(nonce).size > 0 }));
    stage.core.setMerchants([{ merchantId: 'acme', apiKeys: [API_KEY], captureKey: stdout }]);
    while ((await send({})).status !== 401) stage.core.forgetCalls();
  });
  after(async () => {
    await stage.close();
    await rm(directory, { recursive: true });
  });
  beforeEach(() => stage.core.forgetCalls());

  const shell = (script: string) =>
    promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: ROOT,
      env: { ...process.env, PATH: `${join(process.execPath, '..')}:${process.env.PATH}`, no_proxy: '127.0.0.1' },
    });
  const send = (headers: Record<string, string>) =>
    fetch(`${stage.origin}/preauthorization/authorization`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...lowerCase(headers) },
      body: JSON.stringify(CAPTURE_HOLD),
    });

  it('keeps the private key from other users, and never overwrites one', async () => {
    assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
    await assert.rejects(shell(block('new-key.sh').replace('capture-key.pem', keyFile)), /EEXIST/);
  });

  it('captures with the commands of the document', async () => {
    const script = block('capture.sh')
      .replace('http://127.0.0.1:8080', stage.origin)
      .replace('hf_…', API_KEY)
      .replace('capture-key.pem', keyFile)
      .replace('pre_…', PREAUTHORIZATION_ID);
    const { stdout } = await shell(script);
    assert.equal(stdout, `200 ${JSON.stringify(CAPTURE_JSON)}\n`);
    assert.deepEqual(
      stage.core.calls.map(({ method }) => method),
      ['useNonce', 'capturePreauthorization'],
    );
    assert.equal(stage.core.lastRequest.idempotencyKey, 'order-1-capture-1');
    assert.equal(stage.core.lastRequest.amountToCapture, 4000n);
  });

  it('creates a new signature for each attempt, with and without an idempotency key', async () => {
    const privateKey = createPrivateKey(await readFile(keyFile));
    const body = Buffer.from(JSON.stringify(CAPTURE_HOLD));
    for (const idempotencyKey of [undefined, 'k-1', 'k-1']) {
      const headers = signCapture(privateKey, { merchantId: 'acme', body, idempotencyKey });
      assert.equal((await send(headers)).status, 200);
      assert.equal((await send(headers)).status, 401, 'a signature is used only once');
    }
  });

  it('fails with the answer when the capture is refused, and names settings that are missing', async () => {
    const command = `node docs/examples/sign-capture/sign-capture.ts send < /dev/null`;
    await assert.rejects(shell(`unset CAPTURE_KEY_FILE; ${command}`), /CAPTURE_KEY_FILE is not set/);
    const settings = `HOLDFAST_URL=${stage.origin} HOLDFAST_API_KEY=${API_KEY} CAPTURE_KEY_FILE=${keyFile}`;
    await assert.rejects(shell(`${settings} HOLDFAST_MERCHANT_ID=bolt ${command}`), (error: { stdout?: string }) =>
      /^401 .*SIGNATURE_REQUIRED/.test(error.stdout ?? ''),
    );
  });
});

function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
