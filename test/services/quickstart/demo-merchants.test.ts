import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { MerchantService } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import { type DemoMerchants, keepDemoMerchants } from '../../../services/quickstart/demo-merchants.ts';
import type { House } from '../../../services/quickstart/house.ts';
import { choosePorts, freeOuterPorts } from '../../../services/quickstart/ports.ts';
import { keepSecrets } from '../../../services/quickstart/secrets.ts';
import { readSettings } from '../../../services/quickstart/settings.ts';
import { forSuite } from '../../suite.ts';
import { openStage } from '../core/stage.ts';

describe('keepDemoMerchants()', () => {
  const stage = forSuite(() => openStage());
  const folder = forSuite(async () => {
    const path = await mkdtemp(`${tmpdir()}/holdfast-demo-merchants-`);
    return { path, close: () => rm(path, { recursive: true }) };
  });
  const reports: string[] = [];
  let kept: DemoMerchants;

  /** A start of the launcher with new ports, but the stage's core. */
  const start = async (): Promise<House> => {
    reports.length = 0;
    const settings = readSettings(await freeOuterPorts());
    const ports = { ...(await choosePorts(settings)), CORE_PORT: stage.cores[0]?.corePort ?? 0 };
    const secrets = { ...(await keepSecrets(folder.path)), operatorToken: stage.tokens.operator };
    const house = { settings, dataDir: folder.path, ports, secrets };
    kept = await keepDemoMerchants(house, (line) => reports.push(line));
    return house;
  };
  const addresses = async (merchantId: string) => {
    const { merchant } = await stage.client('operator', MerchantService).getMerchant({ merchantId });
    return [merchant?.contract?.webhookUrl, merchant?.contract?.internalUrl];
  };
  const ours = ({ ports }: House) => [`http://127.0.0.1:${ports.PORT}`, `http://127.0.0.1:${ports.MERCHANT_PORT}`];

  it('lets its own addresses follow the ports', async () => {
    await start();
    const house = await start();
    for (const merchantId of ['demo', 'demo-single']) assert.deepEqual(await addresses(merchantId), ours(house));
    assert.deepEqual(reports, []);
  });

  it("leaves an address that the merchant's own key has set, at every start, and says so", async () => {
    const set = { merchantId: 'demo', webhookUrl: 'http://127.0.0.1:9999/hooks' };
    await stage.client('operator', MerchantService).setWebhookUrl(set);
    for (let restart = 0; restart < 2; restart += 1) {
      const house = await start();
      assert.deepEqual(await addresses('demo'), ['http://127.0.0.1:9999/hooks', ours(house)[1]]);
      assert.deepEqual(await addresses('demo-single'), ours(house));
      assert.deepEqual(reports, ['demo: webhookUrl is http://127.0.0.1:9999/hooks, and stays so']);
    }
  });

  it('makes a new API key when the one that it keeps was revoked', async () => {
    await start();
    const { single, several } = kept;
    const merchants = stage.client('operator', MerchantService);
    const { merchant } = await merchants.getMerchant({ merchantId: single.merchantId });
    for (const { apiKeyId } of merchant?.apiKeys ?? [])
      await merchants.revokeApiKey({ merchantId: single.merchantId, apiKeyId });
    await start();
    assert.notEqual(kept.single.apiKey, single.apiKey);
    assert.equal(kept.several.apiKey, several.apiKey);
    assert(reports.includes(`${single.merchantId}: its API key was revoked; it has a new one`));
    const renewed = kept;
    await start();
    assert.deepEqual(kept.single.apiKey, renewed.single.apiKey);
  });
});
