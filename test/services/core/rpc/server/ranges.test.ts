import assert from 'node:assert/strict';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { EndpointKind, NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openStage } from '../../stage.ts';

describe('a range that ends before it begins', () => {
  const stage = forSuite(openStage);

  const earlier = timestampFromDate(new Date('2026-11-21T12:00:00Z'));
  const later = timestampFromDate(new Date('2026-11-21T12:00:00.001Z'));

  it('is refused, naming its end', async () => {
    const { holds, operations } = stage.channel('operator');
    const notifications = stage.client('operator', NotificationService);
    const created = { createdFrom: later, createdTo: earlier };
    const recovered = { since: later, until: earlier, endpointKind: EndpointKind.WEBHOOK };
    for (const [call, fields] of [
      [holds.listPreauthorizations({ ...created, amountFrom: 2n, amountTo: 1n }), 'created_to, amount_to'],
      [operations.listOperations({ finalFrom: later, finalTo: earlier }), 'final_to'],
      [notifications.listDeliveries(created), 'created_to'],
      [notifications.recoverDeliveries(recovered), 'until'],
    ] as const) {
      await assert.rejects(call, { code: 3, details: `the request is not valid: ${fields}` });
    }
  });

  it('is none when it ends where it begins, or is open', async () => {
    const { holds } = stage.channel('operator');
    for (const range of [
      { createdFrom: later, createdTo: later },
      { amountFrom: 1n, amountTo: 1n },
      { amountFrom: 1n },
      { createdTo: earlier },
    ]) {
      await holds.listPreauthorizations(range);
    }
  });
});
