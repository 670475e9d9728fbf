import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { MerchantService, type WatchCredentialsResponse } from '../../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { RelayService } from '../../../../../proto/gen/holdfast/v1/relay_pb.js';
import { signingSecret } from '../../../../signing-secret.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, refusal, why } from '../../stage.ts';

const SETTINGS = { name: 'GitHub', header: 'X-Hub-Signature-256', encoding: 'hex', prefix: 'sha256=' };
const GITHUB = { scheme: 'hmac-sha256-body', settings: SETTINGS, keys: ["It's a Secret to Everybody"] };
const STANDARD = { scheme: 'standard-webhooks', settings: { name: 'Billing' }, keys: [signingSecret('billing')] };

function publicPem(): string {
  return generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }) as string;
}

describe('relay senders', () => {
  const stage = forSuite(openStage);
  const operator = forSuite(() => stage.client('operator', RelayService));
  const gateway = forSuite(() => stage.client('gateway', MerchantService));

  before(async () => {
    for (const merchantId of ['m', 'other', 'many']) await openMerchant(stage, merchantId);
  });

  const create = async (request: object = {}) => {
    const { sender } = await operator.createRelaySender({ merchantId: 'm', ...GITHUB, ...request });
    assert(sender);
    return sender;
  };
  const liveOf = async (merchantId: string) => {
    const { merchants } = await gateway.listCredentialChanges({});
    return merchants.find((merchant) => merchant.merchantId === merchantId)?.relaySenders ?? [];
  };

  it('are created, read, replaced and deleted; no answer has a secret', async () => {
    const made = await create();
    const { senderId } = made;
    const name = { merchantId: 'm', senderId };
    assert.equal(made.settings?.header, 'x-hub-signature-256');
    assert.equal(made.settings.toleranceSeconds, 300);
    assert.equal(made.keys.length, 1);
    const { sender } = await operator.getRelaySender(name);
    assert.deepEqual(sender, made);
    assert.equal(JSON.stringify(made, json).includes('Everybody'), false);
    assert.deepEqual((await operator.listRelaySenders({ merchantId: 'm' })).senders, [made]);
    const settings = { ...SETTINGS, name: 'Git', idHeader: 'X-GitHub-Delivery', typeHeader: 'X-GitHub-Event' };
    const renamed = (await operator.updateRelaySender({ ...name, settings })).sender;
    assert.equal(renamed?.settings?.name, 'Git');
    assert.equal(renamed.settings.idHeader, 'x-github-delivery');
    assert.deepEqual(renamed.keys, made.keys);
    await operator.deleteRelaySender(name);
    assert.equal(await why(operator.getRelaySender(name)), 'OPERATION_NOT_FOUND');
    assert.equal(await why(operator.deleteRelaySender(name)), 'OPERATION_NOT_FOUND');
    assert.equal((await sql(stage, 'select from relay_key where sender_id = $1', [senderId])).length, 0);
  });

  it('rotate their keys: one that is given again keeps its id', async () => {
    const { senderId, keys } = await create();
    const name = { merchantId: 'm', senderId };
    const both = { ...name, settings: SETTINGS, keys: [...GITHUB.keys, 'the secret of tomorrow'] };
    const { sender } = await operator.updateRelaySender(both);
    assert.equal(sender?.keys.length, 2);
    assert.equal(sender.keys[0]?.keyId, keys[0]?.keyId);
    const newer = { ...name, settings: SETTINGS, keys: ['the secret of tomorrow'] };
    const { sender: rotated } = await operator.updateRelaySender(newer);
    assert.deepEqual(
      rotated?.keys.map(({ keyId }) => keyId),
      [sender.keys[1]?.keyId],
    );
    await operator.deleteRelaySender(name);
  });

  it('reach gateways with their keys, and are encrypted at rest', async () => {
    const key = publicPem();
    const ed = { scheme: 'ed25519-body', settings: { name: 'Ed', header: 'X-Sig', encoding: 'base64' }, keys: [key] };
    const made = await create(ed);
    const hmac = await create();
    assert.equal(made.keys[0]?.publicKey, key);
    const live = await liveOf('m');
    assert.deepEqual(
      live.map(({ senderId, keys, keyIds }) => [senderId, keys, keyIds]),
      [
        [made.senderId, [key], [made.keys[0]?.keyId]],
        [hmac.senderId, GITHUB.keys, [hmac.keys[0]?.keyId]],
      ],
    );
    assert.equal(live[1]?.settings?.prefix, 'sha256=');
    const rows = await sql<{ ciphertext: Buffer | null }>(stage, 'select ciphertext from relay_key', []);
    for (const { ciphertext } of rows) assert.equal(ciphertext?.includes('Everybody') ?? false, false);
    for (const { senderId } of [made, hmac]) await operator.deleteRelaySender({ merchantId: 'm', senderId });
    assert.deepEqual(await liveOf('m'), []);
  });

  it('belong to one merchant', async () => {
    const { senderId } = await create();
    const foreign = { merchantId: 'other', senderId };
    assert.deepEqual((await operator.listRelaySenders({ merchantId: 'other' })).senders, []);
    assert.equal(await why(operator.getRelaySender(foreign)), 'OPERATION_NOT_FOUND');
    assert.equal(await why(operator.updateRelaySender({ ...foreign, settings: SETTINGS })), 'OPERATION_NOT_FOUND');
    assert.equal(await why(operator.deleteRelaySender(foreign)), 'OPERATION_NOT_FOUND');
    assert.equal(await why(create({ merchantId: 'nobody' })), 'OPERATION_NOT_FOUND');
    assert.equal(await why(operator.listRelaySenders({ merchantId: 'nobody' })), 'OPERATION_NOT_FOUND');
    await operator.deleteRelaySender({ merchantId: 'm', senderId });
  });

  it('are at most ten', async () => {
    await Promise.all(Array.from({ length: 10 }, () => create({ merchantId: 'many' })));
    assert.equal(await why(create({ merchantId: 'many' })), 'INVALID_REQUEST');
  });

  it('are audited without their keys', async () => {
    const { senderId } = await create();
    await operator.deleteRelaySender({ merchantId: 'm', senderId });
    const text = `select action, detail from audit_entry where detail->>'senderId' = $1 order by id`;
    const entries = await sql<{ action: string; detail: object }>(stage, text, [senderId]);
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['relay-sender.create', 'relay-sender.delete'],
    );
    assert.deepEqual(entries[0]?.detail, { senderId, name: 'GitHub', scheme: 'hmac-sha256-body' });
  });

  const privateKey = () => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
  const rsa = () =>
    generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'pem', type: 'spki' });
  const ed = { scheme: 'ed25519-body', settings: { name: 'e', header: 'X-Sig', encoding: 'hex' } };
  for (const [what, request, field] of [
    ['a scheme that is none', { scheme: 'md5' }, 'scheme'],
    ['no key', { keys: [] }, 'keys'],
    ['three keys', { keys: ['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)] }, 'keys'],
    ['one key twice', { keys: ['a'.repeat(16), 'a'.repeat(16)] }, 'keys'],
    ['a short key', { keys: ['hush'] }, 'keys'],
    ['a key with a NUL', { keys: [`${'a'.repeat(16)}\0`] }, 'keys'],
    ['a key that is too long', { keys: ['a'.repeat(257)] }, 'keys'],
    ['a secret of another form for Standard Webhooks', { ...STANDARD, keys: ['a'.repeat(40)] }, 'keys'],
    [
      'a secret of another form for service-signature',
      { ...STANDARD, scheme: 'service-signature', keys: ['a'.repeat(40)] },
      'keys',
    ],
    ['a private key', { ...ed, keys: [privateKey()] }, 'keys'],
    ['an RSA key', { ...ed, keys: [rsa()] }, 'keys'],
    ['no header', { settings: { ...SETTINGS, header: '' } }, 'settings.header'],
    ['no encoding', { settings: { ...SETTINGS, encoding: '' } }, 'settings.encoding'],
    ['another encoding', { settings: { ...SETTINGS, encoding: 'base32' } }, 'settings.encoding'],
    ['a header of HTTP', { settings: { ...SETTINGS, header: 'Content-Length' } }, 'settings.header'],
    ['a header of Holdfast', { settings: { ...SETTINGS, header: 'webhook-signature' } }, 'settings.header'],
    ['a header with a NUL', { settings: { ...SETTINGS, header: 'X\0' } }, 'settings.header'],
    ['a prefix with a space', { settings: { ...SETTINGS, prefix: 'a b' } }, 'settings.prefix'],
    ['a header for Standard Webhooks', { ...STANDARD, settings: SETTINGS }, 'settings.header'],
    ['an id for Standard Webhooks', { ...STANDARD, settings: { name: 'b', idPointer: '/id' } }, 'settings.id_pointer'],
    ['two identifiers', { settings: { ...SETTINGS, idHeader: 'X-Id', idPointer: '/id' } }, 'settings.id_pointer'],
    ['a pointer without a slash', { settings: { ...SETTINGS, idPointer: 'id' } }, 'settings.id_pointer'],
    ['a pointer with a loose ~', { settings: { ...SETTINGS, idPointer: '/a~b' } }, 'settings.id_pointer'],
    ['a pointer with a NUL', { settings: { ...SETTINGS, idPointer: '/a\0' } }, 'settings.id_pointer'],
    [
      'a time for ed25519',
      { ...ed, keys: [publicPem()], settings: { ...ed.settings, timestamped: true } },
      'settings.timestamped',
    ],
    ['a prefix beside a time', { settings: { ...SETTINGS, timestamped: true } }, 'settings.prefix'],
    ['a tolerance of a day', { settings: { ...SETTINGS, toleranceSeconds: 86_400 } }, 'settings.tolerance_seconds'],
    ['a type with a NUL', { settings: { ...SETTINGS, internalTypes: ['a\0'] } }, 'settings.internal_types'],
    ['a star inside of a type', { settings: { ...SETTINGS, internalTypes: ['*.a'] } }, 'settings.internal_types'],
    ['a name with a NUL', { settings: { ...SETTINGS, name: '\0' } }, 'settings.name'],
    ['a card number for a name', { settings: { ...SETTINGS, name: '4111 1111 1111 1111' } }, 'settings.name'],
    ['no settings', { settings: undefined }, 'settings'],
  ] as const) {
    it(`refuse ${what}, and store nothing`, async () => {
      const { reason, violations } = await refusal(create(request as object));
      assert.equal(reason, 'INVALID_REQUEST');
      assert(field in violations, JSON.stringify(violations));
      assert.deepEqual((await operator.listRelaySenders({ merchantId: 'm' })).senders, []);
    });
  }

  it('come in the first snapshot of the feed, too', async () => {
    const { senderId } = await create();
    const closing = new AbortController();
    const seen: string[] = [];
    for await (const message of gateway.watchCredentials({}, { signal: closing.signal })) {
      seen.push(...sendersIn(message));
      if (message.snapshotComplete) break;
    }
    closing.abort();
    assert(seen.includes(senderId));
    await operator.deleteRelaySender({ merchantId: 'm', senderId });
  });
});

function sendersIn({ merchants }: WatchCredentialsResponse): string[] {
  return merchants.flatMap(({ relaySenders }) => relaySenders.map(({ senderId }) => senderId));
}

function json(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
