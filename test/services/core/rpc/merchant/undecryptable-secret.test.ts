import assert from 'node:assert/strict';
import type { MerchantCredentials } from '../../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage } from '../../stage.ts';

describe('credentials of gateways', () => {
  const stage = forSuite(() => openStage());
  const merchants = forSuite(() => stage.channel('operator').merchants);
  const gateway = forSuite(() => stage.channel('gateway').merchants);

  it('come without a secret that cannot be decrypted, and other merchants have all of theirs', async () => {
    await openMerchant(stage, 'locked');
    const { signingSecret } = await openMerchant(stage, 'other');
    const { secret } = await merchants.addSigningSecret({ merchantId: 'locked' });
    await sql(
      stage,
      `update signing_secret set ciphertext = set_byte(ciphertext, 0, get_byte(ciphertext, 0) # 1)
        where id = (select id from signing_secret where merchant_id = 'locked' order by id limit 1)`,
    );
    const snapshot: MerchantCredentials[] = [];
    for await (const message of gateway.watchCredentials({})) {
      snapshot.push(...message.merchants);
      if (message.snapshotComplete) break;
    }
    const listed = await gateway.listCredentialChanges({ afterChangeNumber: 0n });
    for (const all of [snapshot, listed.merchants]) {
      const of = new Map(all.map((each) => [each.merchantId, each]));
      assert.deepEqual(of.get('other')?.signingSecrets, [signingSecret]);
      assert.deepEqual(of.get('locked')?.signingSecrets, [secret]);
      assert.equal(of.get('locked')?.apiKeyHashes.length, 1);
    }
  });
});
