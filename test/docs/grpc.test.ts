import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { contract, openStage } from '../services/core/stage.ts';
import { forSuite } from '../suite.ts';
import { namedCode } from './code-blocks.ts';
import { isInstalled } from './is-installed.ts';

const block = namedCode('grpc.md');
const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

describe('docs/grpc.md', () => {
  let environment: NodeJS.ProcessEnv;
  const stage = forSuite(openStage);

  before(async () => {
    const { merchants } = stage.channel('operator');
    await merchants.createMerchant({
      merchantId: 'acme',
      name: 'Acme',
      contract: { ...contract(), terminals: ['till-1'] },
    });
    const [core] = stage.cores;
    environment = {
      ...process.env,
      CORE_URL: `127.0.0.1:${core?.corePort}`,
      CONNECT_URL: `http://127.0.0.1:${core?.connectPort}`,
      TOKEN: stage.tokens.internal,
      MERCHANT_ID: 'acme',
    };
  });

  const example = (file: string) =>
    run(process.execPath, [`docs/examples/grpc/${file}`], { cwd: root, env: environment });
  const shell = async (name: string) => (await run('sh', ['-c', block(name)], { cwd: root, env: environment })).stdout;

  it('names every service of core', async () => {
    const text = await readFile(`${root}/docs/grpc.md`, 'utf8');
    for (const file of await readdir(`${root}/proto/holdfast/v1`)) {
      const contract = await readFile(`${root}/proto/holdfast/v1/${file}`, 'utf8');
      for (const [, service] of contract.matchAll(/^service (\w+)/gm)) assert(text.includes(`\`${service}\``), service);
    }
  });

  it('holds and captures with a stock grpc-js client', async () => {
    assert.match((await example('stock-client.mjs')).stdout, /^held 2500 EUR, captured 1000$/m);
  });

  it('holds and follows the stream with a Connect client', async () => {
    assert.match((await example('connect-client.ts')).stdout, /^authorized 2500 EUR$/m);
  });

  it('holds with curl', async function () {
    if (!isInstalled('curl')) this.skip();
    const { preauthorization, state } = JSON.parse(await shell('create'));
    assert.deepEqual(
      [preauthorization.amount, preauthorization.merchantId, state],
      ['2500', 'acme', 'OPERATION_STATE_OK'],
    );
  });

  it('lists methods by reflection and tells health to buf curl', async () => {
    const methods = await shell('reflection');
    assert.match(methods, /^holdfast\.v1\.PreauthorizationService\/CapturePreauthorization$/m);
    assert.match(methods, /^holdfast\.processor\.v1\.ProcessorEventService\/ReportEvent$/m);
    assert.deepEqual(JSON.parse(await shell('health')), { status: 'SERVING' });
  });
});
