/** The receivers of docs/clients.md and docs/verify-webhooks.md; the frameworks are those that npm serves today. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ROOT } from '../../.ci/sources.ts';
import { signStandardWebhook } from '../../client/webhooks/signature.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import { packClient } from '../client/pack-client.ts';
import { namedCode } from '../docs/code-blocks.ts';
import { isInstalled } from '../docs/is-installed.ts';

const run = promisify(execFile);
const inClients = namedCode('clients.md');
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
/** Not as JSON.stringify would write it: only the bytes as they came verify. */
const BODY = '{ "requestId": "r-1", "amount": 10.50 }';

/** What starts each receiver in the folder that it was written to; `code`: the document that has it. */
const RECEIVERS = [
  ...['node.mjs', 'koa.mjs', 'express.mjs', 'fastify.mjs'].map((file) => {
    return { file, start: [process.execPath, file], code: inClients };
  }),
  { file: 'receive.py', start: ['python3', 'receive.py'], code: inClients },
  { file: 'receive.php', start: ['php', '-S', '127.0.0.1:3000', 'receive.php'], code: namedCode('verify-webhooks.md') },
];

describe('the receivers of the guides', () => {
  let folder: string;

  before(async function () {
    const isServed = await run('npm', ['view', 'express', 'version']).then(
      () => true,
      () => false,
    );
    if (!isServed) this.skip();
    folder = await mkdtemp(`${tmpdir()}/holdfast-receivers-`);
    await writeFile(`${folder}/package.json`, '{"type":"module"}');
    const packages = [await packClient(folder), 'koa@3', 'express@5', 'fastify@5'];
    await run('npm', ['install', '--no-audit', '--ignore-scripts', ...packages], { cwd: folder });
    await writeFile(`${folder}/receive.mjs`, inClients('receive.mjs'));
    await writeFile(`${folder}/verify.php`, namedCode('verify-webhooks.md')('verify.php'));
  });
  after(() => folder && rm(folder, { recursive: true }));

  for (const { file, start, code } of RECEIVERS) {
    it(`${file} stores a notification once, refuses one that was changed, and gets the best grade`, async function () {
      const [program = '', ...options] = start;
      if (!isInstalled(program)) this.skip();
      const port = await freePort();
      const own = (text: string) => text.replace('3000', String(port));
      await writeFile(`${folder}/${file}`, own(code(file)));
      const env = { ...process.env, SIGNING_SECRET: SECRET, PYTHONPATH: `${ROOT}client/python` };
      const settings = { cwd: folder, env: { ...env, DATABASE: `${file}.db` } };
      // Python and PHP log each request.
      const stdio = program === process.execPath ? 'inherit' : 'ignore';
      const child = spawn(program, options.map(own), { ...settings, stdio });
      try {
        assert.deepEqual(await sent(port, BODY), [200, 'stored']);
        assert.deepEqual(await sent(port, BODY), [200, 'known']);
        assert.deepEqual(await sent(port, BODY.replaceAll(' ', '')), [401, '']);
        const grading = [`${folder}/node_modules/.bin/holdfast`, 'check-receiver', `http://127.0.0.1:${port}/`];
        const { stdout } = await run(process.execPath, grading, { env, maxBuffer: 1_000_000 });
        assert.match(stdout, /^grade A: all 55 deliveries passed/m);
      } finally {
        const ended = once(child, 'exit');
        child.kill();
        await ended;
      }
    });
  }
});

/** Sends a body with the signature of BODY, once the receiver listens. */
async function sent(port: number, body: string): Promise<[status: number, text: string]> {
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const headers = {
    'content-type': 'application/json',
    'webhook-id': 'd-1',
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signStandardWebhook(SECRET, { id: 'd-1', timestampSeconds, body: BODY }),
  };
  const request = { method: 'POST', headers, body };
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/webhook/processor/payment/captured`, request).catch(
      () => undefined,
    );
    if (response) return [response.status, await response.text()];
    await delay(100);
  }
}
