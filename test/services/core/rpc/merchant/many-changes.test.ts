import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

describe('MerchantService, called again and again,', () => {
  const stage = forSuite(openStage);
  const merchants = forSuite(() => stage.channel('operator').merchants);
  const gateway = forSuite(() => stage.channel('gateway').merchants);
  const get = async (merchantId: string) => (await merchants.getMerchant({ merchantId })).merchant ?? assert.fail();

  it('keeps of ended keys and secrets the newest hundred', async () => {
    await openMerchant(stage, 'rotates');
    await sql(
      stage,
      `insert into signing_secret (id, merchant_id, hash, ciphertext, created_at, retired_at)
        select gen_random_uuid(), 'rotates', sha256(n::text::bytea), '', now(), now() from generate_series(1, 150) n`,
    );
    await sql(
      stage,
      `insert into api_key (id, merchant_id, hash, last4, created_at, revoked_at)
        select gen_random_uuid(), 'rotates', sha256(n::text::bytea), '', now(), now() from generate_series(1, 150) n`,
    );
    await merchants.addSigningSecret({ merchantId: 'rotates' });
    await merchants.createApiKey({ merchantId: 'rotates' });
    for (const [table, end] of [
      ['signing_secret', 'retired_at'],
      ['api_key', 'revoked_at'],
    ]) {
      const rows = await sql(stage, `select ${end} is null from ${table} where merchant_id = 'rotates'`);
      assert.equal(rows.length, 102, table);
    }
    const { signingSecrets, apiKeys } = await get('rotates');
    assert.equal(signingSecrets.filter(({ retiredAt }) => !retiredAt).length, 2);
    assert.equal(apiKeys.filter(({ revokedAt }) => !revokedAt).length, 2);
  });

  it('lets a merchant change its webhook and secrets 30 times a minute, and operators always', async () => {
    await openMerchant(stage, 'restless');
    const { key } = await merchants.createApiKey({ merchantId: 'restless', managesWebhook: true });
    const metadata = { 'x-api-key-sha256': createHash('sha256').update(key).digest('base64') };
    const change = (call: number) =>
      gateway.setWebhookUrl({ merchantId: 'restless', webhookUrl: `https://m${call}.example` }, { metadata });
    stage.clock.advance(60_000 - (stage.clock.now() % 60_000));
    for (let call = 1; call <= 29; call++) await change(call);
    const { signingSecret } = await gateway.addSigningSecret({ merchantId: 'restless' }, { metadata });
    const signingSecretId = signingSecret?.signingSecretId ?? '';
    const retired = gateway.retireSigningSecret({ merchantId: 'restless', signingSecretId }, { metadata });
    assert.equal(await why(retired), 'RATE_LIMITED');
    assert.equal(await why(change(31)), 'RATE_LIMITED');
    await merchants.retireSigningSecret({ merchantId: 'restless', signingSecretId });
    stage.clock.advance(60_000);
    await change(32);
  });
});
