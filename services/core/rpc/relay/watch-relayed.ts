import { create, type MessageShape } from '@bufbuild/protobuf';
import {
  VerifiedNotificationSchema,
  WatchRelayedNotificationsResponseSchema,
} from '../../../../proto/gen/holdfast/v1/relay_pb.js';
import type { RelayedRow } from '../../storage/notification/relayed-log.ts';
import type { LogPosition } from '../../storage/ordered-log.ts';
import type { Method } from '../core.ts';
import { followLog } from '../operation/follow-log.ts';
import type { FeedSizes } from '../operation/log-feed.ts';
import { RELAYED_TOKENS, tokenOf } from '../operation/stream-token.ts';
import { present } from '../present.ts';
import { scopeOf } from '../server/caller.ts';

/** A body has up to 64 KiB: a watcher that stalls holds 1 MiB of them. */
export const RELAYED_SIZES: FeedSizes = { kept: 10_000, keptBytes: 16 * 1024 * 1024, read: 100, page: 16, behind: 16 };

/**
 * Streams what the relay has verified, in the order in which it was stored, for one merchant or all. The first message
 * is a heartbeat with the token of the starting point. Errors: STREAM_TOKEN_TOO_OLD, INVALID_REQUEST, as followLog()
 * says.
 */
export const watchRelayedNotifications: Method<'watchRelayedNotifications'> = async function* (core, request, context) {
  const { signal } = context;
  const { resumeToken, senderId } = request;
  const merchantId = scopeOf(context, request.merchantId);
  const tokenAt = (position: LogPosition) => tokenOf(position, merchantId, core.cipher, RELAYED_TOKENS);
  const kept = merchantId === undefined ? KEPT.all : KEPT.own;
  const pages = followLog(core, core.relayed, { merchantId, resumeToken }, signal, RELAYED_TOKENS);
  for await (const { rows, position } of pages) {
    for (const row of rows) {
      if (merchantId !== undefined && row.merchantId !== merchantId) continue;
      if (senderId !== '' && senderOf(row) !== senderId) continue;
      yield messageOf(row, kept, (of) => tokenAt(core.relayed.positionOf(of)));
      if (signal.aborted) return;
    }
    if (rows.length === 0) yield create(WatchRelayedNotificationsResponseSchema, { resumeToken: tokenAt(position) });
  }
};

type Message = MessageShape<typeof WatchRelayedNotificationsResponseSchema>;

/** The messages that were built, with the tokens of their merchants and with those of all. */
const KEPT = { own: new WeakMap<RelayedRow, Message>(), all: new WeakMap<RelayedRow, Message>() };

/** Builds the message about a row. Streams of one scope share the object, so that it is encoded once. */
function messageOf(row: RelayedRow, kept: WeakMap<RelayedRow, Message>, tokenAt: (row: RelayedRow) => string): Message {
  const known = kept.get(row);
  if (known) return known;
  const notification = presentRelayed(row);
  const message = create(WatchRelayedNotificationsResponseSchema, { notification, resumeToken: tokenAt(row) });
  kept.set(row, message);
  return message;
}

function senderOf({ kind, statusInfo }: RelayedRow): string | undefined {
  return kind === 'relay' ? statusInfo : undefined;
}

function presentRelayed(row: RelayedRow) {
  const senderId = senderOf(row);
  return present(VerifiedNotificationSchema, row, {
    senderId,
    statusInfo: senderId === undefined ? row.statusInfo : undefined,
    bodyPurged: row.body === null,
    headers: Object.entries(row.relayedHeaders ?? {}).map(([name, value]) => ({ name, value })),
    acceptedAt: row.receivedAt,
  });
}
