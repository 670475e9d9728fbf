import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { RestrictedApiKey } from '../../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, refusal, why } from '../../stage.ts';

const PAYMENTS = ['read', 'hold', 'capture', 'release', 'refund', 'oct'];
const DAY_MS = 86_400_000;

describe('API keys with terms', () => {
  const stage = forSuite(openStage);
  const merchants = forSuite(() => stage.channel('operator').merchants);
  const gateway = forSuite(() => stage.channel('gateway').merchants);
  before(() => openMerchant(stage, 'acme'));

  const hashOf = (key: string) => createHash('sha256').update(key).digest();
  const get = async () => (await merchants.getMerchant({ merchantId: 'acme' })).merchant ?? assert.fail();
  const keyOf = async (apiKeyId = '') => (await get()).apiKeys.find((key) => key.apiKeyId === apiKeyId);
  const fed = async () => {
    const { merchants: all } = await gateway.listCredentialChanges({ afterChangeNumber: 0n });
    return all.find(({ merchantId }) => merchantId === 'acme') ?? assert.fail();
  };

  it('may do everything but manage the webhook when they have none, also those of the release before', async () => {
    const plain = await merchants.createApiKey({ merchantId: 'acme' });
    assert.deepEqual(plain.apiKey?.scopes, PAYMENTS);
    const managing = await merchants.createApiKey({ merchantId: 'acme', managesWebhook: true });
    assert.deepEqual(managing.apiKey?.scopes, [...PAYMENTS, 'webhook']);
    const older = hashOf('older');
    await sql(
      stage,
      `insert into api_key (id, merchant_id, hash, last4, manages_webhook, created_at)
        values (gen_random_uuid(), 'acme', $1, 'lder', true, now())`,
      [older],
    );
    await merchants.createApiKey({ merchantId: 'acme' });
    const hashes = (await fed()).apiKeyHashes.map((hash) => Buffer.from(hash).toString('hex'));
    for (const hash of [hashOf(plain.key), hashOf(managing.key), older]) assert(hashes.includes(hash.toString('hex')));
    assert.deepEqual((await get()).apiKeys.find(({ last4 }) => last4 === 'lder')?.scopes, [...PAYMENTS, 'webhook']);
  });

  it('come to gateways apart from those that may do everything', async () => {
    const expiresAt = timestampFromMs(stage.clock.now() + DAY_MS);
    const terms = { scopes: ['read', 'webhook'], expiresAt, allowedCidrs: ['192.0.2.0/24'] };
    const { key, apiKey } = await merchants.createApiKey({ merchantId: 'acme', ...terms });
    assert.deepEqual([apiKey?.scopes, apiKey?.managesWebhook], [['read', 'webhook'], true]);
    const { apiKeyHashes, restrictedApiKeys } = await fed();
    const isIt = ({ apiKeyHash }: RestrictedApiKey) => hashOf(key).equals(apiKeyHash);
    const found = restrictedApiKeys.find(isIt);
    assert.deepEqual(
      [found?.scopes, found?.expiresAt && timestampMs(found.expiresAt), found?.allowedCidrs],
      [terms.scopes, timestampMs(expiresAt), terms.allowedCidrs],
    );
    assert(!apiKeyHashes.some((hash) => hashOf(key).equals(hash)), 'a gateway of 1.0.0 would let it do everything');
    await merchants.revokeApiKey({ merchantId: 'acme', apiKeyId: apiKey?.apiKeyId ?? '' });
    assert(!(await fed()).restrictedApiKeys.some(isIt));
    const { entries } = await stage.client('operator', OperatorService).listAuditEntries({ target: 'acme' });
    const created = entries.find(({ detail }) => detail.includes(apiKey?.apiKeyId ?? '') && detail.includes('scopes'));
    assert.match(created?.detail ?? '', /192\.0\.2\.0\/24/);
  });

  it('are refused when their terms are wrong, and nothing is stored', async () => {
    const stored = (await get()).apiKeys.length;
    for (const [terms, field] of [
      [{ scopes: ['raed'] }, 'scopes'],
      [{ scopes: ['read', 'read'] }, 'scopes'],
      [{ expiresAt: timestampFromMs(stage.clock.now()) }, 'expires_at'],
      [{ allowedCidrs: ['192.0.2.0'] }, 'allowed_cidrs'],
      [{ allowedCidrs: ['192.0.2.1/24'] }, 'allowed_cidrs'],
      [{ allowedCidrs: ['192.0.2.0/24', '2001:db8::1/48'] }, 'allowed_cidrs'],
    ] as const) {
      const refused = await refusal(merchants.createApiKey({ merchantId: 'acme', ...terms } as object));
      assert.equal(refused.reason, 'INVALID_REQUEST');
      assert(
        Object.keys(refused.violations).some((name) => name.startsWith(field)),
        JSON.stringify(refused),
      );
    }
    assert.equal((await get()).apiKeys.length, stored);
  });

  it('stop managing the webhook when they expire', async () => {
    const expiresAt = timestampFromMs(stage.clock.now() + DAY_MS);
    const { key } = await merchants.createApiKey({ merchantId: 'acme', scopes: ['webhook'], expiresAt });
    const metadata = { 'x-api-key-sha256': hashOf(key).toString('base64') };
    const ask = () => gateway.getMerchant({ merchantId: 'acme' }, { metadata });
    await ask();
    stage.clock.advance(DAY_MS);
    assert.equal(await why(ask()), 'UNAUTHENTICATED');
  });

  it('are warned of two weeks before they expire', async () => {
    const expiresAt = timestampFromMs(stage.clock.now() + 15 * DAY_MS);
    const { apiKey } = await merchants.createApiKey({ merchantId: 'acme', expiresAt });
    const warned = async () => (await get()).warnings.filter(({ field }) => field === 'api_keys').length;
    assert.equal(await warned(), 0);
    stage.clock.advance(DAY_MS + 1);
    assert.equal(await warned(), 1);
    await merchants.revokeApiKey({ merchantId: 'acme', apiKeyId: apiKey?.apiKeyId ?? '' });
    assert.equal(await warned(), 0);
  });

  it('say when they were used last, written at most once a minute however many gateways report it', async () => {
    const { key, apiKey } = await merchants.createApiKey({ merchantId: 'acme' });
    const { changeNumber } = await fed();
    const report = (atMs: number) =>
      gateway.reportApiKeyUses({ uses: [{ apiKeyHash: hashOf(key), usedAt: timestampFromMs(atMs) }] });
    const lastUsedAt = async () => {
      const { lastUsedAt: at } = (await keyOf(apiKey?.apiKeyId)) ?? assert.fail();
      return at && timestampMs(at);
    };
    assert.equal(await lastUsedAt(), undefined);
    const now = stage.clock.now();
    await report(now);
    await report(now + 20_000);
    assert.equal(await lastUsedAt(), now);
    await report(now + 60_000);
    assert.equal(await lastUsedAt(), now + 60_000);
    assert.equal((await fed()).changeNumber, changeNumber, 'gateways need not hear of it');
  });
});
