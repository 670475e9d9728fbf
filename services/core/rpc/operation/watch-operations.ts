import { create, type MessageShape } from '@bufbuild/protobuf';
import { WatchOperationsResponseSchema } from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import { type OperationRow, positionOf } from '../../storage/operation/operation-row.ts';
import type { LogPosition } from '../../storage/ordered-log.ts';
import type { Method } from '../core.ts';
import { presentOperation } from '../present.ts';
import { scopeOf } from '../server/caller.ts';
import { followLog } from './follow-log.ts';
import { tokenOf } from './stream-token.ts';

/**
 * Streams results in commit order, for one merchant or all. The first message is a heartbeat with the token of the
 * starting point. Errors: STREAM_TOKEN_TOO_OLD, INVALID_REQUEST, as followLog() says.
 */
export const watchOperations: Method<'watchOperations'> = async function* (core, request, context) {
  const { signal } = context;
  const merchantId = scopeOf(context, request.merchantId);
  const tokens = {
    isOwn: merchantId !== undefined,
    of: (position: LogPosition) => tokenOf(position, merchantId, core.cipher),
  };
  for await (const { rows, position } of followLog(
    core,
    core.feed,
    { merchantId, resumeToken: request.resumeToken },
    signal,
  )) {
    const mine = merchantId === undefined ? rows : rows.filter((result) => result.merchantId === merchantId);
    for (const message of messagesAbout(mine, request.maxBatchSize, tokens)) {
      yield message;
      if (signal.aborted) return;
    }
    if (rows.length === 0) yield create(WatchOperationsResponseSchema, { resumeToken: tokens.of(position) });
  }
};

type Message = MessageShape<typeof WatchOperationsResponseSchema>;

/** The tokens of a stream. */
export interface Tokens {
  /** True when they are tokens of the results' merchant; a stream of all merchants has others. */
  readonly isOwn: boolean;
  of(position: LogPosition): string;
}

/** Builds the messages about results. Streams with the same filter share the objects, so that each is encoded once. */
export function* messagesAbout(
  results: readonly OperationRow[],
  maxBatchSize: number,
  tokens: Tokens,
): Generator<Message> {
  const kept = tokens.isOwn ? KEPT.own : KEPT.all;
  if (maxBatchSize <= 1) for (const result of results) yield alone(result, kept, tokens);
  else for (const batch of batchesOf(results, maxBatchSize)) yield together(batch, kept, tokens);
}

/** Greatest size of a message, and the size of a result without its metadata: 1 000 of them fit. */
const MESSAGE_BYTES = 1024 * 1024;
const RESULT_BYTES = 1024;

/** Divides results into batches that gRPC clients receive, who take 4 MiB unless they are set otherwise. */
function* batchesOf(results: readonly OperationRow[], maxBatchSize: number): Generator<readonly OperationRow[]> {
  let [from, bytes] = [0, 0];
  for (const [at, { metadata }] of results.entries()) {
    const size = RESULT_BYTES + (metadata == null ? 0 : Buffer.byteLength(JSON.stringify(metadata)));
    if (at > from && (at - from === maxBatchSize || bytes + size > MESSAGE_BYTES)) {
      yield results.slice(from, at);
      [from, bytes] = [at, 0];
    }
    bytes += size;
  }
  if (from < results.length) yield results.slice(from);
}

/** The messages that were built, alone about a result, and the last batch from each first result. */
interface Kept {
  readonly singles: WeakMap<OperationRow, Message>;
  readonly batches: WeakMap<OperationRow, { readonly results: readonly OperationRow[]; readonly message: Message }>;
}

const KEPT: Readonly<Record<'own' | 'all', Kept>> = {
  own: { singles: new WeakMap(), batches: new WeakMap() },
  all: { singles: new WeakMap(), batches: new WeakMap() },
};

function alone(result: OperationRow, { singles }: Kept, tokens: Tokens): Message {
  const known = singles.get(result);
  if (known) return known;
  const operation = presentOperation(result);
  const message = create(WatchOperationsResponseSchema, { operation, resumeToken: tokens.of(positionOf(result)) });
  singles.set(result, message);
  return message;
}

function together(results: readonly OperationRow[], { batches }: Kept, tokens: Tokens): Message {
  const [first, last] = [results[0], results.at(-1)] as [OperationRow, OperationRow];
  const known = batches.get(first);
  if (known?.results.length === results.length && known.results.every((result, index) => result === results[index])) {
    return known.message;
  }
  const operations = results.map(presentOperation);
  const message = create(WatchOperationsResponseSchema, { operations, resumeToken: tokens.of(positionOf(last)) });
  batches.set(first, { results, message });
  return message;
}
