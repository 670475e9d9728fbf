/** The package compiles where merchants compile it, and so does every example of the documents. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { ROOT } from '../../.ci/sources.ts';
import { readCodeBlocks } from '../docs/code-blocks.ts';
import { packClient } from './pack-client.ts';
import { areRuntimesInstalled, inRuntimes } from './runtimes.ts';

const run = promisify(execFile);

/** What the types say of each way to place a hold, in a program of ES modules or of CommonJS. */
const NARROW = `
import { Holdfast, type Unknown } from 'holdfast-client';
import type { CreatePreauthorization } from 'holdfast-client/api';

const order = { amount: 1050, currency: 'EUR', terminalId: 'till-1', userId: 'ann' };

export async function place({ holds }: Holdfast, any: CreatePreauthorization, tokenId: string) {
  const hold = await holds.create({ ...order, tokenId });
  if (hold.outcome === 'unknown') return hold satisfies Unknown;
  const handle: string = hold.preauthorizationId;
  const capture = await holds.capture({ preauthorizationId: handle, amountToCapture: 400 });
  if (capture.outcome === 'done') capture.captureDate satisfies string;
  const renewed = await holds.renew({ requestId: hold.requestId });
  if (renewed.outcome === 'done') renewed.preauthorizationId satisfies string;
  const page = await holds.create(order);
  // Under an earlier key it may be the hold.
  if (page.outcome === 'done' && page.checkoutUrl !== undefined) page.checkoutUrl satisfies string;
  const asked = await holds.create({ ...order, tokenId, customerPresent: true, returnUrl: 'https://shop.example' });
  if (asked.outcome !== 'done') return undefined;
  if (asked.phase === 'AWAITING_CUSTOMER') asked.nextAction.url satisfies string;
  else asked.preauthorizationId satisfies string;
  const either = await holds.create(any);
  // @ts-expect-error: it may be a page.
  return either.preauthorizationId;
}
`;

/** How merchants of 1.0.0 told the answers apart. */
const OF_1_0_0 = `
import { type Done, Holdfast, HoldfastError, type Unknown, type WriteOptions } from 'holdfast-client';
import type { CreatePreauthorization, Hold, OpenCheckout, Routes } from 'holdfast-client/api';
import { InvalidNotification, verify, type Notification } from 'holdfast-client/webhooks';

const order = { amount: 1050, currency: 'EUR', terminalId: 'till-1', userId: 'ann' };
type Create = (hold: CreatePreauthorization, options?: WriteOptions) => Promise<object>;

export async function place({ holds }: Holdfast, tokenId: string | undefined): Promise<string | undefined> {
  const create: Create = holds.create;
  await create(order);
  const answers = [
    await holds.create({ ...order, tokenId: 'tok_sandbox_ok' }),
    await holds.create({ ...order, tokenId: tokenId ?? 'tok_sandbox_ok', returnUrl: 'https://shop.example' }),
    await holds.create(tokenId === undefined ? order : { ...order, tokenId }),
  ];
  const hold = await holds.create({ ...order, tokenId: 'tok_sandbox_ok' });
  if (hold.outcome === 'unknown') return hold.idempotencyKey;
  if ('checkoutUrl' in hold) return hold.checkoutUrl;
  if ('preauthorizationId' in hold && hold.preauthorizationId !== undefined) return hold.preauthorizationId;
  return kept(answers[0]);
}

export function kept(answer: Done<Hold | OpenCheckout | Routes['createPreauthorization']['answer']> | Unknown | undefined) {
  return answer?.requestId;
}

export function received(headers: Record<string, string | string[] | undefined>, body: Buffer): Notification | null {
  try {
    return verify(headers, body, ['whsec_']);
  } catch (error) {
    if (error instanceof InvalidNotification || error instanceof HoldfastError) return null;
    throw error;
  }
}
`;

const COMMON_JS = `
import holdfast = require('holdfast-client');
import webhooks = require('holdfast-client/webhooks');
export const client: holdfast.Holdfast = new holdfast.Holdfast({ baseUrl: 'http://127.0.0.1:8080', apiKey: 'k' });
export const verified: webhooks.Notification = webhooks.verify({}, '', []);
`;

describe('the types of the npm package', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(`${tmpdir()}/holdfast-types-`);
    const installed = `${folder}/node_modules`;
    await mkdir(`${installed}/holdfast-client`, { recursive: true });
    await symlink(`${ROOT}node_modules/@types`, `${installed}/@types`);
    await symlink(`${ROOT}node_modules/undici-types`, `${installed}/undici-types`);
    const packed = await packClient(folder);
    await run('tar', ['xzf', packed, '-C', `${installed}/holdfast-client`, '--strip-components', '1']);
    const sources = { 'narrow.ts': NARROW, 'of-1-0-0.ts': OF_1_0_0 };
    await write('module', { type: 'module' }, { ...sources, ...(await examples()) });
    await write('commonjs', { type: 'commonjs' }, { ...sources, 'require.cts': COMMON_JS });
  });
  after(() => rm(folder, { recursive: true }));

  async function write(name: string, project: object, files: Readonly<Record<string, string>>) {
    await mkdir(`${folder}/${name}`);
    await writeFile(`${folder}/${name}/package.json`, JSON.stringify(project));
    for (const [file, text] of Object.entries(files)) await writeFile(`${folder}/${name}/${file}`, text);
  }

  /** Compiles a project; throws with what the compiler says. */
  async function compile(tsc: string, name: string, module: string, moduleResolution: string, more: object = {}) {
    const [target, lib, types] = ['es2022', ['es2023'], ['node']];
    const compilerOptions = { strict: true, noEmit: true, allowJs: true, checkJs: true, target, lib, types };
    const options = { ...compilerOptions, module, moduleResolution, ...more };
    const file = `${folder}/${name}/${module}-${moduleResolution}${Object.keys(more)}.json`;
    const include = ['*.ts', '*.cts', '*.mjs'];
    await writeFile(file, JSON.stringify({ compilerOptions: options, include }));
    await run(process.execPath, [tsc, '-p', file]).catch(({ stdout }) => assert.fail(stdout));
  }

  const compilers: readonly (readonly [string, string])[] = [
    ['TypeScript 7', `${ROOT}node_modules/typescript/bin/tsc`],
    ['TypeScript 5.9', inRuntimes('typescript/bin/tsc')],
  ];
  for (const [name, tsc] of compilers) {
    describe(`with ${name}`, () => {
      before(function () {
        if (name !== 'TypeScript 7' && !areRuntimesInstalled) this.skip();
      });

      for (const resolution of ['nodenext', 'node16', 'bundler']) {
        it(`compile with every example of the documents, strictly, by ${resolution}`, async () => {
          await compile(tsc, 'module', resolution === 'bundler' ? 'preserve' : resolution, resolution);
        });
      }

      it('compile with exact optional properties, and where the types of libraries are checked', async () => {
        await compile(tsc, 'module', 'nodenext', 'nodenext', { exactOptionalPropertyTypes: true });
      });

      for (const resolution of ['nodenext', 'node16']) {
        it(`compile in CommonJS by ${resolution}`, () => compile(tsc, 'commonjs', resolution, resolution));
      }
    });
  }

  it('compile in CommonJS by the resolution node of TypeScript 5', async function () {
    if (!areRuntimesInstalled) this.skip();
    await compile(inRuntimes('typescript/bin/tsc'), 'commonjs', 'commonjs', 'node');
  });
});

/** What merchants write in TypeScript, and the receivers in JavaScript that need no framework. */
async function examples(): Promise<Record<string, string>> {
  const guides = (await readdir(`${ROOT}docs`)).filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`);
  const found: Record<string, string> = {};
  for (const document of ['README.md', 'client/README.md', ...guides]) {
    for (const [index, { language, name, code }] of readCodeBlocks(document).entries()) {
      if (language === 'ts') found[`${document.replaceAll('/', '-')}-${index}.ts`] = code;
      else if (document === 'docs/clients.md' && /^(receive|node)\.mjs$/.test(name)) found[name] = code;
    }
  }
  return found;
}
