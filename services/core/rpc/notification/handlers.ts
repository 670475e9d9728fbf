import type { ServiceImpl } from '@connectrpc/connect';
import type { NotificationService } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { Core } from '../core.ts';
import { acceptNotification, batchAcceptNotifications } from './accept-notification.ts';
import { listEndpoints, pauseEndpoint, resumeEndpoint } from './endpoints.ts';
import { listVerificationFailures } from './list-verification-failures.ts';
import { notificationCore } from './notification-core.ts';
import {
  discardQuarantinedNotification,
  listQuarantinedNotifications,
  releaseQuarantinedNotification,
} from './quarantine.ts';
import { quarantineNotification } from './quarantine-notification.ts';
import { getDelivery, listDeliveries } from './read-deliveries.ts';
import { replayDeliveries, replayDelivery } from './replay-deliveries.ts';
import { reportVerificationFailures } from './report-verification-failures.ts';
import { listStoredNotifications, replayStoredNotification } from './stored-notifications.ts';

/** The handlers of NotificationService. */
export function notificationHandlers(base: Core): ServiceImpl<typeof NotificationService> {
  const core = notificationCore(base);
  return {
    acceptNotification: acceptNotification(core),
    batchAcceptNotifications: batchAcceptNotifications(core),
    quarantineNotification: quarantineNotification(core),
    reportVerificationFailures: reportVerificationFailures(core),
    listDeliveries: listDeliveries(core),
    getDelivery: getDelivery(core),
    replayDelivery: replayDelivery(core),
    replayDeliveries: replayDeliveries(core),
    listEndpoints: listEndpoints(core),
    pauseEndpoint: pauseEndpoint(core),
    resumeEndpoint: resumeEndpoint(core),
    listVerificationFailures: listVerificationFailures(core),
    listQuarantinedNotifications: listQuarantinedNotifications(core),
    releaseQuarantinedNotification: releaseQuarantinedNotification(core),
    discardQuarantinedNotification: discardQuarantinedNotification(core),
    listStoredNotifications: listStoredNotifications(core),
    replayStoredNotification: replayStoredNotification(core),
  };
}
