import { hash } from 'node:crypto';
import { readRow, sql } from '../database.ts';
import type { LogPosition, LogRow, OrderedLog } from '../ordered-log.ts';
import type { AcceptedRow } from './accepted-row.ts';
import { openSettledSequence } from './settled-sequence.ts';

/** An accepted notification as streams have it. */
export interface RelayedRow
  extends LogRow,
    Pick<AcceptedRow, 'requestId' | 'kind' | 'statusInfo' | 'receivedAt' | 'identifier'> {
  /** Null once purged. */
  readonly body: Buffer | null;
  readonly relayedHeaders: Readonly<Record<string, string>> | null;
}

/**
 * Opens the log of accepted notifications. They are read up to where their sequence is settled, in its order: one that
 * came after the answer to another stands after it. Their names are kept for ever, so none is dropped.
 */
export function openRelayedLog(): OrderedLog<RelayedRow> {
  const settled = openSettledSequence();
  return {
    async read(query, after, limit) {
      return query(READ_RELAYED, [after, await settled(query), limit]);
    },
    async readOf(query, merchantId, after, limit) {
      return query(READ_RELAYED_OF, [after, await settled(query), limit, merchantId]);
    },
    async last(query) {
      const row = await readRow<Place>(query, LAST_RELAYED, [await settled(query)]);
      return row ? positionOf(row) : { sequence: 0n, mark: '' };
    },
    async placeAt(query, sequence) {
      if (sequence === 0n) return { mark: '', isFollowed: true };
      const row = await readRow<Place>(query, FIND_RELAYED, [sequence]);
      return row && { mark: positionOf(row).mark, isFollowed: true };
    },
    positionOf,
    storedAt: ({ receivedAt }) => receivedAt,
    bytesOf: ({ body }) => body?.length ?? 0,
  };
}

type Place = Pick<RelayedRow, 'sequence' | 'merchantId' | 'requestId' | 'receivedAt'>;

/** Its mark is of the name and the time: after a restore the same notification may come again, at another time. */
function positionOf({ sequence, merchantId, requestId, receivedAt }: Place): LogPosition {
  const mark = hash('sha256', `${merchantId} ${requestId} ${receivedAt.toISOString()}`).slice(0, 12);
  return { sequence, mark };
}

const COLUMNS = `sequence, merchant_id, request_id, kind, status_info, received_at, identifier, body, relayed_headers`;

/**
 * The row right after $1 may be the one at which a stream is. A core that was there has seen that it is settled; this
 * one may have to wait before it sees that, too.
 */
const READ_RELAYED = sql('read-relayed')`select ${COLUMNS} from notification
    where sequence > $1 and sequence <= greatest($2, $1::bigint + 1) order by sequence limit $3`;

/** With `merchant_id = $4` the planner may take a merchant for a large one, and read what all have received. */
const READ_RELAYED_OF = sql('read-relayed-of-merchant')`
    (select ${COLUMNS} from notification where sequence = $1)
    union all
    (select ${COLUMNS} from notification
      where (merchant_id, sequence) > ($4, $1) and (merchant_id, sequence) <= ($4, $2) and sequence is not null
      order by merchant_id, sequence limit $3)
    order by sequence`;

const LAST_RELAYED = sql('last-relayed')`select sequence, merchant_id, request_id, received_at from notification
    where sequence <= $1 order by sequence desc limit 1`;

const FIND_RELAYED = sql('find-relayed')`select sequence, merchant_id, request_id, received_at from notification
    where sequence = $1`;
