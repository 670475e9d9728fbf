import { create, type MessageShape } from '@bufbuild/protobuf';
import { WatchOperationsResponseSchema } from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import type { OperationRow } from '../../storage/operation.ts';
import { presentOperation } from '../present.ts';

type Message = MessageShape<typeof WatchOperationsResponseSchema>;

/** A message without a result: resume after this sequence. */
export function heartbeat(sequence: bigint): Message {
  return create(WatchOperationsResponseSchema, { resumeToken: tokenOf(sequence) });
}

/**
 * The messages about results: one each, or up to `maxBatchSize` of them together. Whoever watches the same gets the same message
 * object, so that it is encoded once for all of them.
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
  const message = create(WatchOperationsResponseSchema, { operation, resumeToken: tokenOf(result.sequence) });
  singles.set(result, message);
  return message;
}

/** The last batch that was made from each first result. */
const batches = new WeakMap<OperationRow, { readonly results: readonly OperationRow[]; readonly message: Message }>();

function together(results: readonly OperationRow[]): Message {
  const [first, last] = [results[0], results.at(-1)] as [OperationRow, OperationRow];
  const known = batches.get(first);
  if (known?.results.length === results.length && known.results.every((result, index) => result === results[index])) {
    return known.message;
  }
  const operations = results.map(presentOperation);
  const message = create(WatchOperationsResponseSchema, { operations, resumeToken: tokenOf(last.sequence) });
  batches.set(first, { results, message });
  return message;
}

function tokenOf(sequence: bigint): string {
  return Buffer.from(`o1:${sequence}`).toString('base64url');
}

/** The sequence that a token names; undefined = no such token was ever given. */
export function sequenceOf(token: string): bigint | undefined {
  const match = /^o1:(\d{1,18})$/.exec(Buffer.from(token, 'base64url').toString('latin1'));
  return match?.[1] === undefined ? undefined : BigInt(match[1]);
}
