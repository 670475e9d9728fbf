import assert from 'node:assert/strict';
import { openAccept } from '../../../gateway/relay/store-notification.ts';
import { AcceptOutcome, NotificationService } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { notification as verified } from '../../services/core/rpc/notification/verified.ts';
import { openMerchant } from '../../services/core/shop.ts';
import { openStage } from '../../services/core/stage.ts';

describe('openAccept(), with core behind it', () => {
  it('has core store everything that arrives at once, even if all bodies have the maximum size', async () => {
    await using closing = new AsyncDisposableStack();
    const stage = await openStage();
    closing.defer(() => stage.close());
    await openMerchant(stage, 'm');
    const accept = openAccept(stage.client('gateway', NotificationService));
    const accepted = Array.from({ length: 100 }, (_, index) =>
      accept(verified(`${'r'.repeat(60)}${index}`, { body: Buffer.alloc(65_536, 'x') })),
    );
    const ends = await Promise.allSettled(accepted);
    assert.deepEqual(
      ends.map((end) => (end.status === 'fulfilled' ? AcceptOutcome[end.value] : end.reason.message)),
      ends.map(() => 'STORED'),
    );
  });
});
