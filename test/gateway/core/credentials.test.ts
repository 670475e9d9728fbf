import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { connectCore } from '../../../gateway/core/client.ts';
import { watchCredentials } from '../../../gateway/core/credentials.ts';
import { apiKeyHash } from '../../../gateway/rest/authenticate.ts';
import { signingSecret } from '../../signing-secret.ts';
import { FakeCore, refusal, TOKEN } from '../fake-core.ts';
import { API_KEY, MERCHANTS, OTHER_API_KEY, Stage } from '../stage.ts';

describe('watchCredentials()', () => {
  const { log } = new Stage();
  let nowMs: number;
  let fake: FakeCore;

  const watch = () => {
    const core = connectCore({ address: fake.address, token: TOKEN, timeoutMs: 20_000 });
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
    assert.equal(credentials.merchantOfApiKey(apiKeyHash(API_KEY)), 'acme');
    assert.equal(credentials.merchantOfApiKey(apiKeyHash(OTHER_API_KEY)), 'bolt');
    assert.equal(credentials.merchantOfApiKey(apiKeyHash('hf_other')), undefined);
    assert.deepEqual(credentials.secretsOf('acme'), [signingSecret('older'), signingSecret('newer')]);
    assert.equal(credentials.secretsOf('nobody'), undefined);
    assert.equal(credentials.secretsOf('__proto__'), undefined);
    await credentials.close();
  });

  it('follows changes, and reports them', async () => {
    const credentials = watch();
    await credentials.ready;
    const changed = credentials.changed();
    fake.setMerchants([{ merchantId: 'acme', apiKeys: ['hf_new'], secrets: ['whsec_newer'] }]);
    await changed;
    assert.equal(credentials.merchantOfApiKey(apiKeyHash(API_KEY)), undefined);
    assert.equal(credentials.merchantOfApiKey(apiKeyHash('hf_new')), 'acme');
    assert.equal(credentials.merchantOfApiKey(apiKeyHash(OTHER_API_KEY)), 'bolt', 'others stay');
    assert.deepEqual(credentials.secretsOf('acme'), ['whsec_newer']);
    await credentials.close();
  });

  it('is stale before the first snapshot and after 30 s of silence, not sooner', async () => {
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

  it('requests what is newer than its snapshot, and keeps the newer version', async () => {
    const credentials = watch();
    await credentials.ready;
    fake.answers.set('listCredentialChanges', () => ({ merchants: [credentialsOf('acme', ['hf_new'], 7n)] }));
    await credentials.refresh();
    assert.equal(credentials.merchantOfApiKey(apiKeyHash('hf_new')), 'acme');
    await credentials.refresh();
    assert.equal(fake.refreshes.at(-1)?.afterChangeNumber, 7n);
    fake.answers.set('listCredentialChanges', () => ({ merchants: [credentialsOf('acme', ['hf_old'], 6n)] }));
    await credentials.refresh();
    assert.deepEqual(
      ['hf_new', 'hf_old'].map((key) => credentials.merchantOfApiKey(apiKeyHash(key))),
      ['acme', undefined],
    );
    await credentials.close();
  });

  it('asks again when a snapshot that lacks what it had arrives meanwhile', async () => {
    const credentials = watch();
    await credentials.ready;
    const [acme, bolt] = [credentialsOf('acme', ['hf_new'], 7n), credentialsOf('bolt', ['hf_newer'], 8n)];
    fake.answers.set('listCredentialChanges', () => ({ merchants: [acme] }));
    await credentials.refresh();
    const [opened, sent, released] = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    assert(opened && sent && released);
    fake.onFeed = () => {
      opened.resolve();
      return sent.promise;
    };
    fake.endFeeds();
    await opened.promise;
    fake.answers.set('listCredentialChanges', async ({ afterChangeNumber }) => {
      if (afterChangeNumber === 0n) return { merchants: [acme, bolt] };
      await released.promise;
      return { merchants: [bolt] };
    });
    const asked = fake.refreshes.length;
    const refreshed = credentials.refresh();
    while (fake.refreshes.length === asked) await new Promise(setImmediate);
    const changed = credentials.changed();
    sent.resolve();
    await changed;
    released.resolve();
    await refreshed;
    assert.deepEqual(
      ['hf_new', 'hf_newer'].map((key) => credentials.merchantOfApiKey(apiKeyHash(key))),
      ['acme', 'bolt'],
    );
    await credentials.close();
  });

  it('calls core once for all waiting requests, and again for later ones', async () => {
    const credentials = watch();
    await credentials.ready;
    fake.answers.set('listCredentialChanges', () => ({}));
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 500 }, () => credentials.refresh()));
    }
    assert.equal(fake.refreshes.length, 3);
    const first = credentials.refresh();
    while (fake.refreshes.length === 3) await new Promise(setImmediate);
    await Promise.all([first, credentials.refresh()]);
    assert.equal(fake.refreshes.length, 5, 'a call under way may miss what the later request needs');
    await credentials.close();
  });

  it('throws UNAVAILABLE while core does not answer', async () => {
    const credentials = watch();
    await credentials.ready;
    await credentials.refresh();
    fake.answers.set('listCredentialChanges', () => {
      throw refusal(status.INTERNAL, {});
    });
    await assert.rejects(credentials.refresh(), { code: 'UNAVAILABLE', status: 503 });
    await credentials.close();
  });

  it('keeps a session ended when an older snapshot arrives', async () => {
    const credentials = watch();
    await credentials.ready;
    const sessionHash = Buffer.alloc(32, 7);
    const expiresAt = timestampFromMs(3_600_000);
    fake.answers.set('listCredentialChanges', () => ({
      endedSessions: [{ sessionHash, expiresAt, changeNumber: 9n }],
    }));
    const isEnded = () => credentials.isSessionEnded(sessionHash.toString('base64'));
    assert.equal(isEnded(), false);
    await credentials.refresh();
    assert.equal(isEnded(), true);
    const port = Number(fake.address.split(':')[1]);
    fake.stop();
    const changed = credentials.changed();
    await fake.start(port);
    await changed;
    assert.equal(isEnded(), true);
    await credentials.close();
  });

  it('reconnects to core, without credentials that were revoked meanwhile', async () => {
    const credentials = watch();
    await credentials.ready;
    const port = Number(fake.address.split(':')[1]);
    fake.stop();
    assert.equal(credentials.merchantOfApiKey(apiKeyHash(API_KEY)), 'acme', 'it keeps the credentials it has');
    fake.setMerchants([{ merchantId: 'acme', apiKeys: [API_KEY] }]);
    const changed = credentials.changed();
    await fake.start(port);
    await changed;
    assert.equal(credentials.merchantOfApiKey(apiKeyHash(API_KEY)), 'acme');
    assert.equal(credentials.merchantOfApiKey(apiKeyHash(OTHER_API_KEY)), undefined);
    await credentials.close();
  });
});

function credentialsOf(merchantId: string, apiKeys: readonly string[], changeNumber: bigint) {
  const apiKeyHashes = apiKeys.map((key) => createHash('sha256').update(key).digest());
  return { merchantId, apiKeyHashes, changeNumber };
}
