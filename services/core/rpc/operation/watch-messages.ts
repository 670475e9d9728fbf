import { create, type MessageShape } from '@bufbuild/protobuf';
import { WatchOperationsResponseSchema } from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import type { LogPosition, OperationRow } from '../../storage/operation/operation-row.ts';
import { presentOperation } from '../present.ts';

type Message = MessageShape<typeof WatchOperationsResponseSchema>;

/** A message without a result: resume after this position. */
export function heartbeat(position: LogPosition): Message {
  return create(WatchOperationsResponseSchema, { resumeToken: tokenOf(position) });
}

/**
 * Builds the messages about results: one each, or up to `maxBatchSize` results together. Streams with the same filter
 * share the message objects, so that each is encoded once.
 */
export function* messagesAbout(results: readonly OperationRow[], maxBatchSize: number): Generator<Message> {
  if (maxBatchSize <= 1) for (const result of results) yield alone(result);
  else for (let at = 0; at < results.length; at += maxBatchSize) yield together(results.slice(at, at + maxBatchSize));
}

const singles = new WeakMap<OperationRow, Message>();

function alone(result: OperationRow): Message {
  const known = singles.get(result);
  if (known) return known;
  const operation = presentOperation(result);
  const message = create(WatchOperationsResponseSchema, { operation, resumeToken: tokenOf(result) });
  singles.set(result, message);
  return message;
}

/** The last batch made from each first result. */
const batches = new WeakMap<OperationRow, { readonly results: readonly OperationRow[]; readonly message: Message }>();

function together(results: readonly OperationRow[]): Message {
  const [first, last] = [results[0], results.at(-1)] as [OperationRow, OperationRow];
  const known = batches.get(first);
  if (known?.results.length === results.length && known.results.every((result, index) => result === results[index])) {
    return known.message;
  }
  const operations = results.map(presentOperation);
  const message = create(WatchOperationsResponseSchema, { operations, resumeToken: tokenOf(last) });
  batches.set(first, { results, message });
  return message;
}

/**
 * A token names the result at its position, so that it is valid in one history only: a restored database has another
 * result there.
 */
export function tokenOf({ sequence, requestId }: LogPosition): string {
  return Buffer.from(`o2:${sequence}:${markOf(requestId)}`).toString('base64url');
}

/** The random part of a requestId, which a token carries. */
export function markOf(requestId: string): string {
  return requestId.slice(-12);
}

/** The position of a token; undefined when it is malformed. */
export function readToken(token: string): { readonly sequence: bigint; readonly mark: string } | undefined {
  const [, digits, mark] =
    /^o2:(\d{1,18}):([0-9a-f]{12}|)$/.exec(Buffer.from(token, 'base64url').toString('latin1')) ?? [];
  return digits === undefined || mark === undefined ? undefined : { sequence: BigInt(digits), mark };
}
