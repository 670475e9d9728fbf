import assert from 'node:assert/strict';
import { connectCore } from '../../gateway/core.ts';
import { watchCredentials } from '../../gateway/credentials.ts';
import { FakeCore, TOKEN } from './fake-core.ts';
import { API_KEY, MERCHANTS, OTHER_API_KEY, Stage } from './stage.ts';

describe('watchCredentials()', () => {
  const { log } = new Stage();
  let nowMs: number;
  let fake: FakeCore;

  const watch = () => {
    const core = connectCore({ address: fake.address, token: TOKEN, timeoutMs: 1_000 });
    const credentials = watchCredentials(core, log, () => nowMs);
    const changed = () => new Promise<void>((resolve) => credentials.onChange(resolve));
    const close = async () => {
      await credentials.close();
      core.close();
      fake.stop();
    };
    return { ...credentials, changed, close };
  };

  beforeEach(async () => {
    nowMs = 0;
    fake = new FakeCore();
    await fake.start();
    fake.setMerchants(MERCHANTS);
  });

  it('knows the merchant of a key and the secrets of a merchant, older first', async () => {
    const credentials = watch();
    await credentials.ready;
    assert.equal(credentials.merchantOfApiKey(API_KEY), 'acme');
    assert.equal(credentials.merchantOfApiKey(OTHER_API_KEY), 'bolt');
    assert.equal(credentials.merchantOfApiKey('hf_other'), undefined);
    assert.deepEqual(credentials.secretsOf('acme'), ['whsec_older', 'whsec_newer']);
    assert.equal(credentials.secretsOf('nobody'), undefined);
    assert.equal(credentials.secretsOf('__proto__'), undefined);
    await credentials.close();
  });

  it('follows changes, and says so', async () => {
    const credentials = watch();
    await credentials.ready;
    const changed = credentials.changed();
    fake.setMerchants([{ merchantId: 'acme', apiKeys: ['hf_new'], secrets: ['whsec_newer'] }]);
    await changed;
    assert.equal(credentials.merchantOfApiKey(API_KEY), undefined);
    assert.equal(credentials.merchantOfApiKey('hf_new'), 'acme');
    assert.equal(credentials.merchantOfApiKey(OTHER_API_KEY), 'bolt', 'others stay');
    assert.deepEqual(credentials.secretsOf('acme'), ['whsec_newer']);
    await credentials.close();
  });

  it('is stale before the first snapshot and after 30 s without news, and not heard sooner', async () => {
    const credentials = watch();
    assert.equal(credentials.isFresh(), false);
    await credentials.ready;
    assert.deepEqual([credentials.isFresh(), credentials.isHeard()], [true, true]);
    nowMs = 12_000;
    assert.deepEqual([credentials.isFresh(), credentials.isHeard()], [true, false]);
    nowMs = 29_999;
    assert.equal(credentials.isFresh(), true);
    nowMs = 30_000;
    assert.equal(credentials.isFresh(), false);
    await credentials.close();
  });

  it('comes back after core was away, without what ended meanwhile', async () => {
    const credentials = watch();
    await credentials.ready;
    const port = Number(fake.address.split(':')[1]);
    fake.stop();
    assert.equal(credentials.merchantOfApiKey(API_KEY), 'acme', 'keeps serving what it knows');
    fake.setMerchants([{ merchantId: 'acme', apiKeys: [API_KEY] }]);
    const changed = credentials.changed();
    await fake.start(port);
    await changed;
    assert.equal(credentials.merchantOfApiKey(API_KEY), 'acme');
    assert.equal(credentials.merchantOfApiKey(OTHER_API_KEY), undefined);
    await credentials.close();
  });
});
