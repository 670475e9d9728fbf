/**
 * The README's commands, word by word. Exempt are the three that install and run everything, since they would run themselves:
 * .ci/run gives the install and the tests on a fresh clone, test/flow the launcher, and test/services/quickstart the demo's steps.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { banner } from '../../services/quickstart/banner.ts';
import { type Stack, useStack } from '../stack.ts';
import { codeBlocks } from './readme.ts';

const EXEMPT = ['npm ci && npm start\n', 'npm ci && npm run demo\n', 'npm ci && npm test\n'];
const commands = codeBlocks('sh');

describe('the commands in the README', () => {
  let stack: Stack;
  let folder: string;
  let output: string;

  before(async function () {
    this.timeout(90_000);
    for (const program of ['bash', 'curl', 'openssl']) if (!isInstalled(program)) this.skip();
    stack = await useStack();
    await banner({ ...stack, notes: [] });
    folder = await mkdtemp(`${tmpdir()}/holdfast-readme-`);
    await symlink(stack.dataDir, `${folder}/.data`);
    const script = commands.filter((command) => !EXEMPT.includes(command)).join('\n');
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
    const options = { cwd: folder, env: { ...process.env, PATH }, timeout: 60_000 };
    ({ stdout: output } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], options));
  });

  after(async () => {
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
    // 429 when other tests of this run have used up what this address may get wrong in a minute.
    assert.match(output, /200\n(401|429)\n/);
  });

  it('make the secrets of a deployment', async () => {
    const made = await readFile(`${folder}/.env`, 'utf8');
    assert.match(made, /^OPERATOR_TOKEN=[\w-]{43}$/m);
    assert.match(made, /^ENCRYPTION_KEYS=k1:[\w+/]{43}=$/m);
  });
});

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, [program === 'openssl' ? 'version' : '--version'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
