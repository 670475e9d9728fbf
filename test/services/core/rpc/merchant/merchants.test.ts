import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { MerchantCredentials } from '../../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { contract, openStage, why } from '../../stage.ts';

const hash = (key: string) => createHash('sha256').update(key).digest('hex');
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('MerchantService', () => {
  const gatewayOrigin = 'https://pay.example.com,http://127.0.0.1:8080';
  const stage = forSuite(() => openStage({ cores: 2, gatewayOrigin }));
  const merchants = forSuite(() => stage.channel('operator').merchants);
  const gateway = forSuite(() => stage.channel('gateway', 1).merchants);
  const get = async (merchantId: string) => (await merchants.getMerchant({ merchantId })).merchant ?? assert.fail();

  it('creates a merchant, shows its key and secret once, and stores neither in clear text', async () => {
    const { merchant, apiKey, signingSecret } = await merchants.createMerchant({
      merchantId: 'first',
      name: 'The first',
      contract: contract(),
    });
    assert.match(apiKey, /^hf_[\w-]{43}$/);
    assert.match(signingSecret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(merchant, await get('first'));
    assert.equal(merchant?.contract?.holdPeriod?.seconds, 604_800n);
    assert.equal(merchant?.contract?.notifyHolds, true);
    const rows = await sql<{ text: string }>(
      stage,
      `select k::text as text from api_key k union all select s::text from signing_secret s
        union all select m::text from merchant m`,
    );
    const everything = rows.map(({ text }) => text).join();
    assert(everything.includes(hash(apiKey)));
    for (const secret of [apiKey, signingSecret, signingSecret.slice(6)]) {
      assert(!everything.includes(secret));
      assert(!everything.includes(Buffer.from(secret).toString('hex')));
    }
  });

  it('rejects an internalUrl of the gateway in any spelling', async () => {
    const loop = (internalUrl: string) => ({ merchantId: 'loop', name: 'Loop', contract: contract({ internalUrl }) });
    const gateways = [
      ...['http://127.0.0.1:8080', 'http://127.1:8080/a', 'http://2130706433:8080', 'http://[::ffff:127.0.0.1]:8080'],
      ...['http://localhost:8080', 'https://[::1]:8080', 'https://PAY.example.com', 'https://pay.example.com.:443/x'],
    ];
    for (const internalUrl of gateways) {
      assert.equal(await why(merchants.createMerchant(loop(internalUrl))), 'INVALID_REQUEST', internalUrl);
    }
    assert.equal(await why(merchants.getMerchant({ merchantId: 'loop' })), 'OPERATION_NOT_FOUND');
    await merchants.createMerchant(loop('http://127.0.0.1:8081'));
    for (const internalUrl of ['https://not-yet.invalid', 'http://pay.example.com:8443', '']) {
      await merchants.updateMerchant(loop(internalUrl));
    }
    assert.equal(await why(merchants.updateMerchant(loop('http://localhost:8080'))), 'INVALID_REQUEST');
    assert.equal((await get('loop')).contract?.internalUrl, '');
  });

  it('rejects an address that no allow-list permits, in any spelling, and stores nothing', async () => {
    const never = [
      ...['http://169.254.169.254', 'https://169.254.169.254/latest', 'http://0xa9fea9fe', 'http://2852039166'],
      ...['http://[::ffff:169.254.169.254]', 'http://[fd00:ec2::254]', 'https://100.100.100.200', 'http://[fe80::1]'],
    ];
    for (const url of never) {
      for (const urls of [{ webhookUrl: url }, { internalUrl: url }]) {
        const refused = merchants.createMerchant({ merchantId: 'never', name: 'N', contract: contract(urls) });
        assert.equal(await why(refused), 'INVALID_REQUEST', url);
      }
    }
    assert.equal(await why(merchants.getMerchant({ merchantId: 'never' })), 'OPERATION_NOT_FOUND');
  });

  it("warns about an address that only the workers' allow-list permits", async () => {
    const warned = async (urls: object) => {
      const { merchant } = await merchants.updateMerchant({
        merchantId: 'warned',
        name: 'O',
        contract: contract(urls),
      });
      assert.deepEqual(merchant?.warnings, (await get('warned')).warnings);
      return merchant?.warnings.map(({ field, description }) => `${field} ${description.split(';')[0]}`);
    };
    await merchants.createMerchant({ merchantId: 'warned', name: 'O', contract: contract() });
    for (const [webhookUrl, reason] of [
      ['https://10.1.2.3', 'the address is not public'],
      ['https://127.1', 'the address is not public'],
      ['https://[fd12::1]/hooks', 'the address is not public'],
      ['https://localhost:8443', 'the address is not public'],
      ['http://merchant.example', 'https is required'],
      ['http://93.184.216.34', 'https is required'],
    ] as const) {
      assert.deepEqual(await warned({ webhookUrl }), [`contract.webhook_url ${reason}`], webhookUrl);
    }
    assert.deepEqual(await warned({ internalUrl: 'https://10.1.2.3' }), [
      'contract.internal_url the address is not public',
    ]);
    assert.deepEqual(
      await warned({ webhookUrl: 'https://merchant.example', internalUrl: 'https://93.184.216.34' }),
      [],
    );
  });

  it('audits a change with its old and new values, and keys by their id', async () => {
    const operators = stage.client('operator', OperatorService);
    const { merchant } = await merchants.createMerchant({ merchantId: 'audited', name: 'A', contract: contract() });
    const urls = { webhookUrl: 'https://merchant.example' };
    await merchants.updateMerchant({ merchantId: 'audited', name: 'B', contract: contract(urls) });
    const { apiKey } = await merchants.createApiKey({ merchantId: 'audited' });
    const { apiKeyId = '', last4 = '' } = apiKey ?? {};
    await merchants.revokeApiKey({ merchantId: 'audited', apiKeyId });
    const { signingSecret } = await merchants.addSigningSecret({ merchantId: 'audited' });
    const { entries } = await operators.listAuditEntries({ target: 'audited' });
    const details = entries.map(({ action, detail }) => [action, JSON.parse(detail)]);
    const [created] = merchant?.apiKeys ?? [];
    const [firstSecret] = merchant?.signingSecrets ?? [];
    assert.deepEqual(details.slice(0, -1), [
      ['signing-secret.add', { signingSecretId: signingSecret?.signingSecretId }],
      ['api-key.revoke', { apiKeyId, last4 }],
      ['api-key.create', { apiKeyId, last4, managesWebhook: false }],
      ['merchant.update', { before: { name: 'A', webhookUrl: null }, after: { name: 'B', ...urls } }],
    ]);
    const [, { after, ...ids }] = details.at(-1) ?? assert.fail();
    assert.equal(after.name, 'A');
    assert.deepEqual(ids, {
      apiKeyId: created?.apiKeyId,
      last4: created?.last4,
      managesWebhook: false,
      signingSecretId: firstSecret?.signingSecretId,
    });
  });

  it('accepts a name once, also from two simultaneous calls', async () => {
    const create = () => merchants.createMerchant({ merchantId: 'once', name: 'Once', contract: contract() });
    const ends = await Promise.allSettled([create(), create(), create()]);
    assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal(await why(create()), 'INVALID_REQUEST');
  });

  it('replaces the contract; another core applies it within a second', async () => {
    const shop = await openMerchant(stage, 'changing');
    await shop.hold();
    const contractAfter = { currencies: ['USD'], terminals: ['T1'], holdPeriod: { seconds: 60n }, notifyHolds: false };
    const { merchant } = await merchants.updateMerchant({
      merchantId: 'changing',
      name: 'New',
      contract: contractAfter,
    });
    assert.deepEqual(merchant, await get('changing'));
    assert.deepEqual(
      [merchant?.name, merchant?.contract?.currencies, merchant?.contract?.notifyHolds],
      ['New', ['USD'], false],
    );
    assert.equal(await why(shop.place()), 'INVALID_REQUEST');
    const { holds } = stage.channel('gateway', 1);
    stage.clock.advance(1_000);
    const fields = { tokenId: 'tok_sandbox_ok', amount: 1n, terminalId: 'T1', userId: 'u' };
    const { preauthorization } = await holds.createPreauthorization({
      ...fields,
      merchantId: 'changing',
      currency: 'USD',
    });
    assert.equal(Number(preauthorization?.expiresAt?.seconds) * 1_000, stage.clock.now() + 60_000);
    const unknown = { merchantId: 'nobody', name: 'x', contract: contract() };
    assert.equal(await why(merchants.updateMerchant(unknown)), 'OPERATION_NOT_FOUND');
  });

  it('refuses to replace a contract that was changed since it was read, and audits only what changes', async () => {
    await openMerchant(stage, 'versioned');
    const read = await get('versioned');
    const form = { merchantId: 'versioned', name: 'Form', contract: read.contract ?? assert.fail() };
    await merchants.setWebhookUrl({ merchantId: 'versioned', webhookUrl: 'https://new.example' });
    assert.equal(await why(merchants.updateMerchant({ ...form, etag: read.etag })), 'PRECONDITION_FAILED');
    assert.equal((await get('versioned')).contract?.webhookUrl, 'https://new.example');
    const saved = await merchants.updateMerchant({ ...form, etag: (await get('versioned')).etag });
    const { apiKey } = await merchants.createApiKey({ merchantId: 'versioned' });
    const ended = { merchantId: 'versioned', apiKeyId: apiKey?.apiKeyId ?? '' };
    const { signingSecret } = await merchants.addSigningSecret({ merchantId: 'versioned' });
    const retired = { merchantId: 'versioned', signingSecretId: signingSecret?.signingSecretId ?? '' };
    for (let times = 0; times < 2; times++) {
      await merchants.updateMerchant(form);
      await merchants.revokeApiKey(ended);
      await merchants.retireSigningSecret(retired);
    }
    assert.notEqual(saved.merchant?.etag, (await get('versioned')).etag);
    const { entries } = await stage.client('operator', OperatorService).listAuditEntries({ target: 'versioned' });
    const actions = entries.map(({ action }) => action).reverse();
    assert.deepEqual(actions, [
      'merchant.create',
      'merchant.update',
      'merchant.update',
      'api-key.create',
      'signing-secret.add',
      'api-key.revoke',
      'signing-secret.retire',
    ]);
  });

  it('adds and revokes API keys', async () => {
    await openMerchant(stage, 'keys');
    const { apiKey, key } = await merchants.createApiKey({ merchantId: 'keys' });
    const apiKeyId = apiKey?.apiKeyId ?? '';
    assert.equal(apiKey?.last4, key.slice(-4));
    await merchants.revokeApiKey({ merchantId: 'keys', apiKeyId });
    await merchants.revokeApiKey({ merchantId: 'keys', apiKeyId });
    const kept = (await get('keys')).apiKeys.map(({ revokedAt }) => revokedAt !== undefined);
    assert.deepEqual(kept, [false, true]);
    for (const wrong of [
      { merchantId: 'first', apiKeyId },
      { merchantId: 'keys', apiKeyId: 'none' },
      { merchantId: 'nobody', apiKeyId },
    ]) {
      assert.equal(await why(merchants.revokeApiKey(wrong)), 'OPERATION_NOT_FOUND');
    }
  });

  it('keeps at most two signing secrets, and at least one, under simultaneous calls', async () => {
    await openMerchant(stage, 'secrets');
    const at = { merchantId: 'secrets' };
    const added = await Promise.allSettled([1, 2, 3, 4].map(() => merchants.addSigningSecret(at)));
    assert.equal(added.filter(({ status }) => status === 'fulfilled').length, 1);
    await assert.rejects(merchants.addSigningSecret(at), /: two signing secrets are live: retire one first$/);
    const ids = (await get('secrets')).signingSecrets.map(({ signingSecretId }) => signingSecretId);
    assert.equal(ids.length, 2);
    const retired = await Promise.allSettled(
      ids.map((signingSecretId) => merchants.retireSigningSecret({ ...at, signingSecretId })),
    );
    assert.equal(retired.filter(({ status }) => status === 'fulfilled').length, 1);
    const live = (await get('secrets')).signingSecrets.filter(({ retiredAt }) => !retiredAt);
    assert.equal(live.length, 1);
    const foreign = { merchantId: 'first', signingSecretId: ids[0] ?? '' };
    assert.equal(await why(merchants.retireSigningSecret(foreign)), 'OPERATION_NOT_FOUND');
  });

  it('lists merchants by name, page by page', async () => {
    const names: string[] = [];
    let pageToken = '';
    do {
      const page = await merchants.listMerchants({ pageSize: 2, pageToken });
      for (const merchant of page.merchants) assert.deepEqual(merchant, await get(merchant.merchantId));
      names.push(...page.merchants.map(({ merchantId }) => merchantId));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    assert.deepEqual(names, [...names].sort());
    assert(names.includes('first') && new Set(names).size === names.length);
    assert.equal(await why(merchants.getMerchant({ merchantId: 'nobody' })), 'OPERATION_NOT_FOUND');
  });

  describe('watchCredentials()', () => {
    async function open() {
      const abort = new AbortController();
      const messages = gateway.watchCredentials({}, { signal: abort.signal })[Symbol.asyncIterator]();
      const next = async () => {
        const { value, done } = await messages.next();
        assert(!done);
        return value;
      };
      const merchantsOf = new Map<string, MerchantCredentials>();
      for (;;) {
        const { merchants: some, snapshotComplete } = await next();
        for (const each of some) merchantsOf.set(each.merchantId, each);
        if (snapshotComplete) break;
      }
      return {
        merchants: merchantsOf,
        /** Returns the next changes; heartbeats are skipped. */
        async changes(): Promise<MerchantCredentials[]> {
          for (;;) {
            const { merchants: some } = await next();
            if (some.length > 0) return some;
          }
        },
        change: async () => (await next()).merchants[0] ?? (await next()).merchants[0] ?? assert.fail(),
        heartbeat: async () => assert.equal((await next()).merchants.length, 0),
        async cut() {
          abort.abort();
          await messages.next().catch(() => undefined);
        },
      };
    }

    it('sends all live credentials first, then each change in full', async () => {
      const { apiKey, signingSecret } = await openMerchant(stage, 'watched');
      const feed = await open();
      const first = feed.merchants.get('watched') ?? assert.fail();
      assert.deepEqual([first.apiKeyHashes.map(hex), first.signingSecrets], [[hash(apiKey)], [signingSecret]]);
      const { key, apiKey: added } = await merchants.createApiKey({ merchantId: 'watched' });
      assert.deepEqual((await feed.change()).apiKeyHashes.map(hex).sort(), [hash(apiKey), hash(key)].sort());
      await merchants.revokeApiKey({ merchantId: 'watched', apiKeyId: added?.apiKeyId ?? '' });
      assert.deepEqual((await feed.change()).apiKeyHashes.map(hex), [hash(apiKey)]);
      const { secret } = await merchants.addSigningSecret({ merchantId: 'watched' });
      assert.deepEqual((await feed.change()).signingSecrets, [signingSecret, secret]);
      const [older] = (await get('watched')).signingSecrets;
      await merchants.retireSigningSecret({ merchantId: 'watched', signingSecretId: older?.signingSecretId ?? '' });
      assert.deepEqual((await feed.change()).signingSecrets, [secret]);
      await feed.heartbeat();
      await feed.cut();
    });

    it('misses no change of two cores at the same time', async () => {
      const feed = await open();
      const here = Array.from({ length: 12 }, (_, index) => openMerchant(stage, `burst-a${index}`));
      const there = stage.channel('operator', 1).merchants;
      const others = Array.from({ length: 12 }, (_, index) =>
        there.createMerchant({ merchantId: `burst-b${index}`, name: 'b', contract: contract() }),
      );
      await Promise.all([...here, ...others]);
      const seen = new Set<string>();
      while (seen.size < 24) for (const { merchantId } of await feed.changes()) seen.add(merchantId);
      await feed.cut();
    });

    it('splits a large snapshot into messages', async () => {
      await sql(
        stage,
        `insert into merchant (id, name, allow_multiple_captures, hold_period_s, currencies, terminals, notify_holds,
          require_signed_captures, created_at, change_number)
        select 'bulk' || n, 'b', true, 60, '{EUR}', '{T1}', true, false, now(),
        nextval('merchant_change') from generate_series(1, 1200) n`,
      );
      const sizes: number[] = [];
      for await (const { merchants: some, snapshotComplete } of gateway.watchCredentials({})) {
        sizes.push(some.length);
        if (snapshotComplete) break;
      }
      assert(sizes.length >= 3 && Math.max(...sizes) <= 500);
    });
  });

  it('marks a nonce as used once, under simultaneous calls', async () => {
    const other = stage.channel('gateway', 0).merchants;
    const expiresAt = timestampFromMs(stage.clock.now() + 60_000);
    const use = (merchantId: string, nonce: string, at = gateway) => at.useNonce({ merchantId, nonce, expiresAt });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => use('first', 'n1', n % 2 ? gateway : other)),
    );
    assert.equal(answers.filter(({ fresh }) => fresh).length, 1);
    assert.equal((await use('once', 'n1')).fresh, true);
    assert.equal((await use('first', 'n2')).fresh, true);
    assert.equal(await why(use('first', '')), 'INVALID_REQUEST');
  });
});
