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

const run = promisify(execFile);

/** A refusal, and a notification that nobody signed. */
const REFUSED = `
import { Holdfast, HoldfastError } from 'holdfast-client';
import { InvalidNotification, verify } from 'holdfast-client/webhooks';
const holdfast = new Holdfast({ baseUrl: process.env.HOLDFAST_BASE_URL, apiKey: process.env.HOLDFAST_API_KEY });
const refused = await holdfast.operations.get('0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b').catch((error) => error);
let forged;
try { verify({}, '{}', [process.env.SIGNING_SECRET]); } catch (error) { forged = error instanceof InvalidNotification; }
console.log(process.version, refused instanceof HoldfastError && refused.code, forged);
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
  });
  after(() => rm(folder, { recursive: true }));

  /** Starts a program with a Node; `line` resolves with the first line that matches. */
  function start(node: string, args: readonly string[]) {
    const child = spawn(node, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
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

  // The Node of the system is the reader's, such as 20; the tests run on 24.
  for (const [whose, find] of [
    ["the tests'", async () => process.execPath],
    ["the reader's", async () => `${await nodeOfReaders()}/node`],
  ] as const) {
    it(`places a hold, captures it, and gets a verified webhook by holdfast listen, on ${whose} Node`, async () => {
      const [node, port] = [await find(), await freePort()];
      await writeFile(`${folder}/first.mjs`, namedCode('clients.md')('first.mjs').replace('3000', String(port)));
      const bin = 'node_modules/holdfast-client/dist/command/main.js';
      await using listener = start(node, [bin, 'listen', '--forward-to', `http://localhost:${port}`]);
      await listener.line(/^listening/);
      await using program = start(node, ['first.mjs']);
      const [, requestId] = /CAPTURE (\S+)/.exec(await program.line(/^verified CAPTURE/)) ?? [];
      await listener.line(new RegExp(`^captured +${requestId} +200`));
    });

    it(`refuses what it must, and plays the README, on ${whose} Node`, async () => {
      const node = await find();
      await writeFile(`${folder}/refused.mjs`, REFUSED);
      const { stdout } = await run(node, ['refused.mjs'], { cwd: folder, env });
      assert.match(stdout, /^v2\d\.\S+ OPERATION_NOT_FOUND true$/m);
      const readme = readCodeBlocks('README.md').find((block) => block.name === 'client')?.code ?? assert.fail();
      await writeFile(`${folder}/readme.mjs`, readme.replace('http://127.0.0.1:8080', stack.file.baseUrl));
      assert.match((await run(node, ['readme.mjs'], { cwd: folder, env })).stdout, /^done [0-9a-f-]{36}$/m);
    });
  }
});
