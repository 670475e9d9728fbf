import assert from 'node:assert/strict';
import { openAccept } from '../../../gateway/relay/accept-notifications.ts';
import {
  AcceptOutcome,
  NotificationKind,
  NotificationService,
} from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { contract, openStage } from '../../services/core/stage.ts';

describe('openAccept(), with core behind it', () => {
  it('has core store everything that arrives at once, even if all bodies have the maximum size', async function () {
    this.timeout(30_000);
    await using closing = new AsyncDisposableStack();
    const stage = await openStage();
    closing.defer(() => stage.close());
    await stage.channel('operator').merchants.createMerchant({ merchantId: 'm', name: 'M', contract: contract() });
    const accept = openAccept(stage.channel('gateway').opened.client(NotificationService));
    const accepted = Array.from({ length: 100 }, (_, index) =>
      accept({
        merchantId: 'm',
        requestId: `${'r'.repeat(60)}${index}`,
        kind: NotificationKind.PAYMENT,
        statusInfo: 'captured',
        status: 'OK',
        amount: '10',
        currency: 'EUR',
        body: Buffer.alloc(65_536, 'x'),
        signature: `${'A'.repeat(43)}=`,
      }),
    );
    const ends = await Promise.allSettled(accepted);
    assert.deepEqual(
      ends.map((end) => (end.status === 'fulfilled' ? AcceptOutcome[end.value] : end.reason.message)),
      ends.map(() => 'STORED'),
    );
  });
});
