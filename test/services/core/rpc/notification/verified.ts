import { NotificationKind } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';

/** A notification of merchant `m` as the relay sends it to core, with the given changes. */
export const notification = (requestId: string, change: object = {}) => ({
  merchantId: 'm',
  requestId,
  kind: NotificationKind.PAYMENT,
  statusInfo: 'captured',
  status: 'OK',
  amount: '10',
  currency: 'EUR',
  body: Buffer.from(`{"requestId":"${requestId}"}`),
  signature: `${'A'.repeat(43)}=`,
  ...change,
});
