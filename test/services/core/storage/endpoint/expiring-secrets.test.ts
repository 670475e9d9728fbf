import assert from 'node:assert/strict';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { MerchantService } from '../../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { WebhookEndpointService } from '../../../../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import {
  retireExpiredSecrets,
  tellOfExpiringSecrets,
} from '../../../../../services/core/storage/endpoint/expiring-secrets.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, refusal, why } from '../../stage.ts';

const DAY_MS = 86_400_000;

describe('signing secrets that expire', () => {
  const stage = forSuite(openStage);
  const operator = forSuite(() => stage.channel('operator'));
  const merchants = forSuite(() => operator.opened.client(MerchantService));
  const endpoints = forSuite(() => operator.opened.client(WebhookEndpointService));
  const notifications = forSuite(() => operator.opened.client(NotificationService));

  const inDays = (days: number) => new Date(stage.clock.now() + days * DAY_MS);
  const tell = (now: Date) => stage.database.transaction((query) => tellOfExpiringSecrets(query, now));

  /** A merchant with an endpoint that is told, and another. */
  const open = async (merchantId: string) => {
    await openMerchant(stage, merchantId, { webhookUrl: 'https://merchant.example' });
    const add = async (url: string, types: string[]) =>
      (await endpoints.createWebhookEndpoint({ merchantId, url, types: { types } })).endpoint?.endpointId ?? '';
    return {
      alarms: await add('https://alarms.example', ['signing_secret.expiring']),
      books: await add('https://books.example', ['payment.*']),
    };
  };

  const secretsOf = async (merchantId: string, endpointId: string) =>
    (await endpoints.getWebhookEndpoint({ merchantId, endpointId })).endpoint?.signingSecrets ?? [];

  const toldOf = async (merchantId: string) => {
    const rows = await sql<{ to: string; body: Buffer }>(
      stage,
      `select endpoint_kind as to, body from delivery where merchant_id = $1 and kind = 'signing_secret' order by id`,
      [merchantId],
    );
    return rows.map(({ to, body }) => ({ to, ...JSON.parse(body.toString()) }));
  };

  it('are told of once, a week before, to the other endpoints', async () => {
    const { alarms, books } = await open('expires');
    const olderExpiresAt = timestampFromDate(inDays(10));
    for (const endpointId of ['default', books, alarms]) {
      await merchants.addSigningSecret({ merchantId: 'expires', endpointId, olderExpiresAt });
    }
    await tell(inDays(2.9));
    assert.deepEqual(await toldOf('expires'), []);
    await Promise.all([tell(inDays(3.1)), tell(inDays(3.1))]);
    await tell(inDays(9));
    const told = await toldOf('expires');
    const older = async (endpointId: string) => (await secretsOf('expires', endpointId))[0]?.signingSecretId;
    const expected = await Promise.all(
      ['default', books].map(async (endpointId) => [alarms, 'OK', endpointId, await older(endpointId)]),
    );
    assert.deepEqual(
      told.map(({ to, status, endpointId, signingSecretId }) => [to, status, endpointId, signingSecretId]).sort(),
      expected.sort(),
    );
    assert.equal(told[0].expiresAt, inDays(10).toISOString());
    assert.equal(told[0].type, 'signing_secret.expiring');
  });

  it('are retired at their time, in the name of the worker, and gateways learn of it', async () => {
    const { books } = await open('retires');
    const of = [
      { merchantId: 'retires', endpointId: 'default' },
      { merchantId: 'retires', endpointId: books },
    ];
    for (const each of of) await merchants.addSigningSecret({ ...each, olderExpiresAt: timestampFromDate(inDays(1)) });
    assert.equal(await retireExpiredSecrets(stage.database, inDays(0.9)), 0);
    const numberOf = async () =>
      (await sql<{ n: string }>(stage, `select change_number::text as n from merchant where id = 'retires'`, []))[0]?.n;
    const before = await numberOf();
    const counts = await Promise.all([1, 2].map(() => retireExpiredSecrets(stage.database, inDays(1.1))));
    assert.equal((counts[0] ?? 0) + (counts[1] ?? 0), 2);
    assert(Number(await numberOf()) > Number(before));
    for (const { endpointId } of of) {
      const [older, newer] = await secretsOf('retires', endpointId);
      assert.deepEqual(
        [older?.retiredAt && timestampDate(older.retiredAt), newer?.retiredAt],
        [inDays(1.1), undefined],
      );
    }
    const audited = await sql(
      stage,
      `select actor from audit_entry where target = 'retires' and action = 'signing-secret.retire'`,
      [],
    );
    assert.deepEqual(audited, [{ actor: 'worker' }, { actor: 'worker' }]);
  });

  it('leave one that stays: it cannot be retired, and without one nothing is retired', async () => {
    const { books } = await open('stays');
    for (const endpointId of ['default', books]) {
      const key = { merchantId: 'stays', endpointId };
      const olderExpiresAt = timestampFromDate(inDays(1));
      const { signingSecret } = await merchants.addSigningSecret({ ...key, olderExpiresAt });
      const { signingSecretId = '' } = signingSecret ?? {};
      assert.match(
        JSON.stringify(await refusal(merchants.retireSigningSecret({ ...key, signingSecretId }))),
        /last live secret that does not expire/,
      );
    }
    // As a process of 1.0.0 does, which knows of no end.
    for (const table of ['signing_secret', 'endpoint_secret']) {
      await sql(stage, `update ${table} set retired_at = now() where merchant_id = 'stays' and expires_at is null`, []);
    }
    assert.equal(await retireExpiredSecrets(stage.database, inDays(2)), 0);
    assert.equal((await secretsOf('stays', books))[0]?.retiredAt, undefined);
  });

  it('are refused a time that has passed or is too far, and nothing is stored', async () => {
    await open('refused');
    for (const days of [-1, 0, 91]) {
      const request = { merchantId: 'refused', olderExpiresAt: timestampFromDate(inDays(days)) };
      assert.equal(await why(merchants.addSigningSecret(request)), 'INVALID_REQUEST');
    }
    assert.equal((await secretsOf('refused', 'default')).length, 1);
    assert.deepEqual((await notifications.listDeliveries({ merchantId: 'refused' })).deliveries, []);
  });
});
