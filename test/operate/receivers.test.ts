/** The receivers of docs/clients.md, each with its framework as npm serves it today. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { signStandardWebhook } from '../../client/webhooks/signature.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import { packClient } from '../client/pack-client.ts';
import { namedCode } from '../docs/code-blocks.ts';

const run = promisify(execFile);
const code = namedCode('clients.md');
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
/** Not as JSON.stringify would write it: only the bytes as they came verify. */
const BODY = '{ "requestId": "r-1", "amount": 10.50 }';

describe('the receivers of docs/clients.md', () => {
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
    await writeFile(`${folder}/receive.mjs`, code('receive.mjs'));
  });
  after(() => folder && rm(folder, { recursive: true }));

  for (const file of ['node.mjs', 'koa.mjs', 'express.mjs', 'fastify.mjs']) {
    it(`${file} stores a notification once, refuses one that was changed, and gets the best grade`, async () => {
      const port = await freePort();
      await writeFile(`${folder}/${file}`, code(file).replace('3000', String(port)));
      const env = { ...process.env, SIGNING_SECRET: SECRET };
      const child = spawn(process.execPath, [file], { cwd: folder, env, stdio: 'inherit' });
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
