import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

const DAY_MS = 24 * 3_600_000;

describe('ListDeliveries', () => {
  const stage = forSuite(openStage);

  it('lists deliveries created between two times, the first included and the last not, by page', async () => {
    const shop = await openMerchant(stage, 'acme', { webhookUrl: 'https://merchant.example' });
    const operator = stage.client('operator', NotificationService);
    // Identifiers contain the machine's time, not the stage's.
    const firstMs = Date.now();
    const ids: string[] = [];
    for (let count = 0; count < 4; count++) {
      const { requestId } = await shop.hold();
      ids.push(requestId);
      const createdAt = new Date(firstMs + count * 60_000);
      await sql(stage, 'update delivery set created_at = $1 where request_id = $2', [createdAt, requestId]);
    }
    const listed = async (from: number | undefined, to: number | undefined, pageSize = 0) => {
      const bounds = {
        ...(from !== undefined && { createdFrom: timestampFromMs(firstMs + from * 60_000) }),
        ...(to !== undefined && { createdTo: timestampFromMs(firstMs + to * 60_000) }),
      };
      const found: number[] = [];
      for (let pageToken = ''; ; ) {
        const page = await operator.listDeliveries({ merchantId: 'acme', ...bounds, pageSize, pageToken });
        found.push(...page.deliveries.map(({ requestId }) => ids.indexOf(requestId)));
        pageToken = page.nextPageToken;
        if (pageToken === '') return found;
      }
    };
    assert.deepEqual(await listed(1, 3), [2, 1]);
    assert.deepEqual(await listed(1, 3, 1), [2, 1]);
    assert.deepEqual(await listed(2, undefined), [3, 2]);
    assert.deepEqual(await listed(undefined, 1), [0]);
    assert.deepEqual(await listed(1, 1), []);
    assert.equal(await why(listed(3, 1)), 'INVALID_REQUEST');
    const page = await operator.listDeliveries({ merchantId: 'acme', pageSize: 1 });
    const elsewhere = {
      merchantId: 'acme',
      createdTo: timestampFromMs(firstMs + DAY_MS),
      pageToken: page.nextPageToken,
    };
    assert.equal(await why(operator.listDeliveries(elsewhere)), 'INVALID_REQUEST');
  });
});
