import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { ROOT } from '../../.ci/sources.ts';
import { readCodeBlocks } from '../docs/code-blocks.ts';
import { useStack } from '../stack.ts';

const run = promisify(execFile);

/** As a merchant would write it: a hold, a capture, and what a receiver does. */
const PROGRAM = `
import { Holdfast, HoldfastError } from 'holdfast-client';
import { InvalidNotification, verify } from 'holdfast-client/webhooks';
const holdfast = new Holdfast({ baseUrl: process.env.HOLDFAST_BASE_URL, apiKey: process.env.HOLDFAST_API_KEY });
const customer = { tokenId: 'tok_sandbox_ok', amount: 1000, currency: 'EUR', terminalId: 'till-1', userId: 'u' };
const hold = await holdfast.holds.create(customer);
const capture = await holdfast.holds.capture({ preauthorizationId: hold.preauthorizationId, amountToCapture: 400 });
const refused = await holdfast.operations.get('0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b').catch((error) => error);
let forged;
try { verify({}, '{}', ['whsec_x']); } catch (error) { forged = error instanceof InvalidNotification; }
console.log(hold.outcome, capture.amountCaptured, refused instanceof HoldfastError && refused.code, forged);
`;

describe('the npm package', function () {
  this.timeout(120_000);

  it('is packed, and works where it is installed, without a build', async () => {
    const { file } = await useStack();
    await using stack = new AsyncDisposableStack();
    const folder = await mkdtemp(`${tmpdir()}/holdfast-package-`);
    stack.defer(() => rm(folder, { recursive: true }));
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: `${ROOT}client` });
    const name = /"filename": "([^"]+)"/.exec(stdout)?.[1] ?? assert.fail(stdout);
    await mkdir(`${folder}/node_modules/holdfast-client`, { recursive: true });
    const to = ['-C', `${folder}/node_modules/holdfast-client`, '--strip-components=1'];
    await run('tar', ['-xzf', `${folder}/${name}`, ...to]);
    await writeFile(`${folder}/shop.mjs`, PROGRAM);
    const env = { ...process.env, HOLDFAST_BASE_URL: file.baseUrl, HOLDFAST_API_KEY: file.apiKey };
    const ended = await run(process.execPath, [`${folder}/shop.mjs`], { env });
    assert.equal(ended.stdout, 'done 400 OPERATION_NOT_FOUND true\n');
    const readme = readCodeBlocks('README.md').find((block) => block.name === 'client')?.code ?? assert.fail();
    await writeFile(`${folder}/readme.mjs`, readme.replace('http://127.0.0.1:8080', file.baseUrl));
    assert.equal((await run(process.execPath, [`${folder}/readme.mjs`], { env })).stdout.split(' ')[0], 'done');
  });
});
