/** Merchants manage the senders of the relay: what the gateway asks core for, and how it words core's refusals. */
import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { refusal } from '../fake-core.ts';
import { useStage } from '../stage.ts';
import { HOLD_ID, NOW, NOW_TEXT, OCT_ID } from './examples.ts';

const SENDER = {
  senderId: OCT_ID,
  merchantId: 'acme',
  scheme: 'hmac-sha256-body',
  settings: { name: 'a', header: 'x-s', encoding: 'hex', toleranceSeconds: 300 },
  keys: [{ keyId: HOLD_ID, createdAt: NOW }],
  createdAt: NOW,
};
const JSON_OF_SENDER = {
  senderId: OCT_ID,
  scheme: 'hmac-sha256-body',
  keys: [{ keyId: HOLD_ID, createdAt: NOW_TEXT }],
  createdAt: NOW_TEXT,
  name: 'a',
  header: 'x-s',
  encoding: 'hex',
  timestamped: false,
  toleranceSeconds: 300,
  internalTypes: [],
};
const SECRET = 's'.repeat(16);
const NEW = { name: 'a', scheme: 'hmac-sha256-body', header: 'X-S', encoding: 'hex', secrets: [SECRET] };
const PEM = '-----BEGIN PUBLIC KEY-----\nMCo=\n-----END PUBLIC KEY-----\n';
const { secrets: _, ...WITHOUT } = NEW;

describe('REST: the senders of the relay', () => {
  const stage = useStage();
  beforeEach(() => {
    for (const method of ['getRelaySender', 'createRelaySender', 'updateRelaySender'])
      stage.core.answers.set(method, () => ({ sender: SENDER }));
    stage.core.answers.set('listRelaySenders', () => ({ senders: [SENDER] }));
    stage.core.answers.set('deleteRelaySender', () => ({}));
  });

  const errorsOf = async (method: string, path: string, body: object) => {
    const answer = await stage.ask(method, path, { body });
    assert.deepEqual([answer.status, answer.body.code], [400, 'INVALID_REQUEST'], JSON.stringify(answer.body));
    return answer.body.errors.map(({ field, message }: Record<string, string>) => `${field}: ${message}`);
  };

  it('shows a sender with its settings beside its name', async () => {
    assert.deepEqual((await stage.ask('GET', `/relay-senders/${OCT_ID}`)).body, JSON_OF_SENDER);
    assert.deepEqual((await stage.ask('GET', '/relay-senders')).body, { items: [JSON_OF_SENDER] });
    assert.equal((await stage.ask('DELETE', `/relay-senders/${OCT_ID}`)).status, 204);
  });

  it('gives core secrets or public keys as keys, in the name of the API key', async () => {
    assert.equal((await stage.ask('POST', '/relay-senders', { body: { ...NEW, merchantId: 'acme' } })).status, 201);
    const call = stage.core.calls.find(({ method }) => method === 'createRelaySender');
    assert.deepEqual(call?.request.keys, [SECRET]);
    assert.equal(call.request.merchantId, 'acme');
    const ed = { ...WITHOUT, scheme: 'ed25519-body', publicKeys: [PEM] };
    assert.equal((await stage.ask('POST', '/relay-senders', { body: ed })).status, 201);
    assert.equal((await stage.ask('PUT', `/relay-senders/${OCT_ID}`, { body: { name: 'b' } })).status, 200);
  });

  for (const [what, change, said] of [
    ['no keys', { secrets: undefined }, 'secrets: is required'],
    ['both sorts of keys', { publicKeys: [PEM] }, 'publicKeys: must not be given beside secrets'],
    ['the other sort', { scheme: 'ed25519-body' }, 'publicKeys: is needed by ed25519-body'],
    ['a short secret', { secrets: ['hush'] }, 'secrets.0: must have at least 16 characters'],
    ['a secret twice', { secrets: [SECRET, SECRET] }, 'secrets: must not name anything twice'],
    ['an unknown scheme', { scheme: 'md5' }, /^scheme: /],
    ['a header with a colon', { header: 'X:S' }, /^header: must be the name of a header/],
    ['a name with a NUL', { name: 'a\0' }, /^name: must not contain/],
    ['a pointer that is none', { idPointer: 'id' }, 'idPointer: must be a JSON pointer such as /id'],
    ['a star inside', { internalTypes: ['*.a'] }, /^internalTypes\.0: must be a type such as/],
    ['a tolerance of a day', { toleranceSeconds: 86_400 }, /^toleranceSeconds: /],
    ['an unknown field', { senderId: OCT_ID }, /^senderId: /],
  ] as const) {
    it(`refuses ${what} by name, without asking core`, async () => {
      const [error] = await errorsOf('POST', '/relay-senders', { ...NEW, ...change });
      if (typeof said === 'string') assert.equal(error, said);
      else assert.match(error, said);
      assert.equal(stage.core.calls.filter(({ method }) => method === 'createRelaySender').length, 0);
    });
  }

  it("names fields in core's refusals as the routes do", async () => {
    const violations = [
      { field: 'settings.id_pointer', description: 'must be empty with id_header' },
      { field: 'keys', description: 'must be whsec_ and at least 24 bytes of Base64' },
    ];
    const refused = refusal(status.INVALID_ARGUMENT, { reason: 'INVALID_REQUEST', violations });
    stage.core.answers.set('createRelaySender', () => {
      throw refused;
    });
    assert.deepEqual(await errorsOf('POST', '/relay-senders', NEW), [
      'idPointer: must be empty with idHeader',
      'secrets: must be whsec_ and at least 24 bytes of Base64',
    ]);
  });
});
