import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from '../../services/quickstart/ports.ts';
import { namedCode, readCodeBlocks } from '../docs/code-blocks.ts';
import { nodeOfReaders } from '../docs/node-of-readers.ts';
import { useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';
import { packClient } from './pack-client.ts';
import { areRuntimesInstalled, inRuntimes, RUNTIMES } from './runtimes.ts';

const run = promisify(execFile);

/** A refusal, and a notification that nobody signed. */
const REFUSED = `
import { Holdfast, HoldfastError } from 'holdfast-client';
import { InvalidNotification, verify } from 'holdfast-client/webhooks';
const holdfast = new Holdfast({ baseUrl: process.env.HOLDFAST_BASE_URL, apiKey: process.env.HOLDFAST_API_KEY });
const refused = await holdfast.operations.get('0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b').catch((error) => error);
let forged;
try { verify({}, '{}', [process.env.SIGNING_SECRET]); } catch (error) { forged = error instanceof InvalidNotification; }
console.log('refused:', refused instanceof HoldfastError && refused.code, forged);
`;

/** The same from CommonJS, as a test of Jest. */
const REQUIRED = `
const { Holdfast, HoldfastError } = require('holdfast-client');
const { InvalidNotification, verify } = require('holdfast-client/webhooks');
const holdfast = new Holdfast({ baseUrl: process.env.HOLDFAST_BASE_URL, apiKey: process.env.HOLDFAST_API_KEY });
const order = { tokenId: 'tok_sandbox_ok', amount: 1050, currency: 'EUR', terminalId: 'till-1', userId: 'jest' };

test('places a hold, and is refused', async () => {
  const hold = await holdfast.holds.create(order);
  expect(hold).toMatchObject({ outcome: 'done', preauthorizationId: expect.stringMatching(/^pre_/) });
  await expect(holdfast.operations.get('0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b')).rejects.toThrow(HoldfastError);
  expect(() => verify({}, '{}', [process.env.SIGNING_SECRET])).toThrow(InvalidNotification);
});
`;

const CHECKED = `
const { Holdfast, HoldfastError } = require('holdfast-client');
const { isSigningSecret } = require('holdfast-client/webhooks/signature');
try { new Holdfast({ baseUrl: '', apiKey: '' }); } catch (error) {
  console.log('required:', error instanceof HoldfastError && error.code, isSigningSecret(process.env.SIGNING_SECRET));
}
`;

describe('the npm package, installed in an empty folder', () => {
  const stack = forSuite(useStack);
  let folder: string;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    folder = await mkdtemp(`${tmpdir()}/holdfast-package-`);
    await writeFile(`${folder}/package.json`, '{"type":"module"}');
    await run('npm', ['install', '--offline', '--no-audit', await packClient(folder)], { cwd: folder });
    const { baseUrl, apiKey, signingSecret } = stack.file;
    env = { ...process.env, HOLDFAST_BASE_URL: baseUrl, HOLDFAST_API_KEY: apiKey, SIGNING_SECRET: signingSecret };
    env.XDG_STATE_HOME = `${folder}/state`;
  });
  after(() => rm(folder, { recursive: true }));

  /** Starts a program; `line` resolves with the first line that matches. */
  function start([program = '', ...args]: readonly string[]) {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const line = async (pattern: RegExp): Promise<string> => {
      for (;;) {
        const { value, done } = await lines.next();
        assert(!done, `${args}: no line ${pattern}`);
        if (pattern.test(value)) return value;
      }
    };
    const end = async () => {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    };
    return { line, [Symbol.asyncDispose]: end };
  }

  /** What a program prints; it is written into the folder under this name. */
  async function printedBy([program = '', ...args]: readonly string[], name: string, code: string): Promise<string> {
    await writeFile(`${folder}/${name}`, code);
    return (await run(program, [...args, name], { cwd: folder, env })).stdout;
  }

  for (const [name, find] of RUNTIMES) {
    it(`places a hold, captures it, and gets a verified webhook by holdfast listen, on ${name}`, async () => {
      const [command, port] = [await find(), await freePort()];
      await writeFile(`${folder}/first.mjs`, namedCode('clients.md')('first.mjs').replace('3000', String(port)));
      const bin = 'node_modules/holdfast-client/dist/command/main.js';
      await using listener = start([...command, bin, 'listen', '--forward-to', `http://localhost:${port}`]);
      await listener.line(/^listening/);
      await using program = start([...command, 'first.mjs']);
      const [, requestId] = /CAPTURE (\S+)/.exec(await program.line(/^verified CAPTURE/)) ?? [];
      await listener.line(new RegExp(`^captured +${requestId} +200`));
    });

    it(`refuses what it must, and plays the README, on ${name}`, async () => {
      assert.match(await printedBy(await find(), 'refused.mjs', REFUSED), /^refused: OPERATION_NOT_FOUND true$/m);
      const readme = readCodeBlocks('README.md').find((block) => block.name === 'client')?.code ?? assert.fail();
      const played = readme.replace('http://127.0.0.1:8080', stack.file.baseUrl);
      assert.match(await printedBy(await find(), 'readme.mjs', played), /^done [0-9a-f-]{36}$/m);
    });

    it(`is required by CommonJS, on ${name}`, async () => {
      assert.match(await printedBy(await find(), 'required.cjs', CHECKED), /^required: WRONG_OPTION true$/m);
    });
  }

  it("is required by Jest, on the reader's Node", async function () {
    if (!areRuntimesInstalled) this.skip();
    const node = `${await nodeOfReaders()}/node`;
    await writeFile(`${folder}/required.test.cjs`, REQUIRED);
    await writeFile(`${folder}/jest.config.cjs`, "module.exports = { testMatch: ['**/*.test.cjs'] };");
    await run(node, [inRuntimes('jest/bin/jest.js'), '--ci'], { cwd: folder, env });
  });
});
