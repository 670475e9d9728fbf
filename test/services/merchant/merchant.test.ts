import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { signStandardWebhook } from '../../../client/webhooks/signature.ts';
import type { LogFields } from '../../../platform/log.ts';
import { readSettings } from '../../../platform/settings.ts';
import { startMerchant } from '../../../services/merchant/merchant.ts';
import type { ReceivedItem } from '../../../services/merchant/received.ts';
import { MERCHANT_SETTINGS } from '../../../services/merchant/settings.ts';
import { runningMs } from '../../running-ms.ts';

const [OLDER, NEWER, OTHER] = [1, 2, 3].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [
  string,
  string,
  string,
];
const SECRETS = [OLDER, NEWER];
const FIELDS = { merchantId: 'demo', requestId: 'r-1', status: 'OK', amount: '10.50', currency: 'EUR' };

describe('startMerchant()', () => {
  let directory: string;
  let merchant: Awaited<ReturnType<typeof startMerchant>>;
  let lines: { event: string; fields: LogFields }[] = [];

  const keep = (event: string, fields: LogFields = {}) => void lines.push({ event, fields });
  const start = (port = 0) =>
    startMerchant(
      readSettings(MERCHANT_SETTINGS, {
        MERCHANT_PORT: String(port),
        MERCHANT_DATA: `${directory}/merchant.sqlite`,
        SIGNING_SECRETS: JSON.stringify({ demo: SECRETS }),
      }),
      { log: { info: keep, warn: keep, error: keep } },
    );

  before(async () => {
    directory = await mkdtemp(`${tmpdir()}/holdfast-merchant-`);
  });

  beforeEach(async () => {
    merchant = await start();
    lines = [];
  });

  afterEach(() => merchant.close());

  after(() => rm(directory, { recursive: true }));

  it('accepts a notification, and keeps its text', async () => {
    const body = bodyOf(FIELDS);
    assert.equal((await post(body, OLDER)).status, 200);
    const [item] = await received();
    assert(item !== undefined);
    assert.equal(item.requestId, 'r-1');
    assert.equal(item.bodyText, body);
    assert.equal(item.verified, true);
    assert.equal(item.duplicateCount, 0);
    assert.equal((await stat(`${directory}/merchant.sqlite`)).mode & 0o777, 0o600);
  });

  it('accepts one signed with the other live secret', async () => {
    const fields = { ...FIELDS, requestId: 'r-2' };
    assert.equal((await post(bodyOf(fields), NEWER)).status, 200);
  });

  it('accepts a kind that is none of an operation', async () => {
    const fields = { ...FIELDS, requestId: 'r-9', merchantId: 'demo', type: 'endpoint.failing' };
    assert.equal((await post(bodyOf(fields), OLDER, { path: 'endpoint/failing' })).status, 200);
    const [item] = await received('?requestId=r-9');
    assert.deepEqual([item?.kind, item?.statusInfo], ['endpoint', 'failing']);
  });

  it('counts a duplicate without storing it again, after a restart as well', async () => {
    const answer = await post(bodyOf(FIELDS), OLDER);
    assert.deepEqual(await answer.json(), { received: true, duplicate: true });
    await merchant.close();
    merchant = await start();
    assert.deepEqual(
      (await received('?requestId=r-1')).map(({ duplicateCount }) => duplicateCount),
      [1],
    );
  });

  it('lists what it received, newest last', async () => {
    assert.deepEqual(
      (await received()).map(({ requestId }) => requestId),
      ['r-1', 'r-2', 'r-9'],
    );
  });

  const changed = bodyOf({ ...FIELDS, amount: '10.5' });
  for (const [name, body, secret, signed] of [
    ['a signature by another secret', bodyOf(FIELDS), OTHER, undefined],
    ['a number that was printed again', changed, OLDER, bodyOf(FIELDS)],
    ['no signature', bodyOf(FIELDS), '', undefined],
    ['an unknown merchant', bodyOf({ ...FIELDS, merchantId: 'toString' }), OLDER, undefined],
  ] as const) {
    it(`rejects ${name} and stores nothing`, async () => {
      const before = await received();
      assert.equal((await post(body, secret, { signed })).status, 401);
      assert.deepEqual(await received(), before);
      assert.deepEqual(lines, [{ event: 'refused', fields: { reason: 'signature does not verify' } }]);
    });
  }

  for (const body of ['', '[]', '{}', 'null', '"x"', '{"merchantId":"demo"}', `{"a":${bodyOf(FIELDS)}}`]) {
    it(`rejects ${body === '' ? 'an empty body' : body} with 400`, async () => {
      assert.equal((await post(body, OLDER)).status, 400);
    });
  }

  it('rejects more than 64 KiB with 413, and can still stop', async () => {
    for (const length of [70_000, 10_000_000]) {
      assert.equal((await post(bodyOf(FIELDS).padEnd(length), '')).status, 413);
    }
    const startedMs = runningMs();
    await merchant.close();
    assert(runningMs() - startedMs < 3_000);
  });

  it('shows a page to the returning customer, without echoing markup', async () => {
    const page = await (await fetch(url('/return?requestId=%3Cscript%3E'))).text();
    assert.match(page, /Thank you/);
    assert(!page.includes('<script>'));
  });

  it('names the setting of a port that is in use', async () => {
    const message = `MERCHANT_PORT: cannot listen on 127.0.0.1:${merchant.port} (EADDRINUSE)`;
    await assert.rejects(start(merchant.port), { message });
  });

  const url = (path: string) => `http://127.0.0.1:${merchant.port}${path}`;

  /** Sends a body with a signature by a secret; '' = none. */
  const post = (body: string, secret: string, { signed = body, path = 'payment/captured' } = {}) => {
    const timestampSeconds = Math.floor(Date.now() / 1_000);
    const signature = secret && signStandardWebhook(secret, { id: 'w-1', timestampSeconds, body: signed });
    const headers = {
      'webhook-id': 'w-1',
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': signature,
    };
    return fetch(url(`/webhook/processor/${path}`), {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
  };

  const received = async (query = '') => (await (await fetch(url(`/received${query}`))).json()) as ReceivedItem[];
});

function bodyOf({ amount, ...fields }: typeof FIELDS): string {
  return `${JSON.stringify(fields).slice(0, -1)},"amount":${amount}}`;
}
