/**
 * Unary calls of the same moment sent as one (CallService): what HTTP/2 and grpc-js cost is paid once. Each has its own
 * deadline and result, and fails with what it would fail with alone.
 */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type Client, Metadata, type MethodDefinition, type ServiceError, status } from '@grpc/grpc-js';
import { StatusSchema } from '../proto/gen/google/rpc/status_pb.js';
import {
  CallManyRequestSchema,
  type CallManyResponse,
  CallManyResponseSchema,
  type CallResult,
} from '../proto/gen/holdfast/v1/call_pb.js';

/** A unary call that waits for the others of its moment. */
export interface OneCall {
  readonly definition: MethodDefinition<object, object>;
  readonly request: object;
  readonly metadata: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** Makes the call by itself. */
  readonly alone: () => Promise<object>;
}

interface Waiting extends OneCall {
  readonly encoded: Buffer;
  readonly resolve: (response: object) => void;
  readonly reject: (error: unknown) => void;
}

/** The method, as grpc-js wants it. */
export const CALL_MANY = '/holdfast.v1.CallService/CallMany';
/** CallManyRequest's bound. */
export const MOST_CALLS = 64;
/** Half of what core takes in one message. */
const MOST_BYTES = 512 * 1024;

/** Returns how to make a call together with the others that are submitted in the same turn of the event loop. */
export function gatherCalls(connection: Client, token: string): (call: OneCall) => Promise<object> {
  let waiting: Waiting[] = [];
  return (call) =>
    new Promise((resolve, reject) => {
      // A request that cannot be encoded rejects here, and fails no other.
      waiting.push({ ...call, encoded: call.definition.requestSerialize(call.request), resolve, reject });
      if (waiting.length > 1) return;
      setImmediate(() => {
        const calls = waiting;
        waiting = [];
        for (const batch of batchesOf(calls)) callMany(connection, token, batch);
      });
    });
}

/** Splits calls into messages of bounded size. */
function batchesOf(calls: readonly Waiting[]): Waiting[][] {
  const batches: Waiting[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const call of calls) {
    bytes += call.encoded.length;
    if (bytes > MOST_BYTES || (batches.at(-1)?.length ?? 0) === MOST_CALLS) {
      batches.push([]);
      bytes = call.encoded.length;
    }
    batches.at(-1)?.push(call);
  }
  return batches;
}

function callMany(connection: Client, token: string, batch: readonly Waiting[]): void {
  const [first] = batch as [Waiting];
  if (batch.length === 1) return void first.alone().then(first.resolve, first.reject);
  const open = new Map(batch.map((call, index) => [index, call]));
  const timers = batch.map(({ deadline }, index) => setTimeout(end, deadline - Date.now(), index, overdue));
  function end(index: number, settle: (call: Waiting) => void): void {
    const call = open.get(index);
    clearTimeout(timers[index]);
    open.delete(index);
    if (call) settle(call);
  }
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const calls = batch.map(({ definition, encoded, metadata }) => ({
    method: definition.path.slice(1),
    request: encoded,
    metadata,
  }));
  const deadline = Math.max(...batch.map((call) => call.deadline));
  const results = connection.makeServerStreamRequest(CALL_MANY, encode, decode, { calls }, metadata, { deadline });
  results.on('data', (message: CallManyResponse) => {
    for (const result of message.results) end(result.index, (call) => settle(call, result));
  });
  const endAll = (settle: (call: Waiting) => void) => {
    for (const index of [...open.keys()]) end(index, settle);
  };
  results.on('error', (error: ServiceError) =>
    endAll(({ alone, resolve, reject }) => {
      // A core without this method has done nothing.
      if (error.code === status.UNIMPLEMENTED) alone().then(resolve, reject);
      else reject(error);
    }),
  );
  results.on('end', () => endAll(({ reject }) => reject(failure(status.INTERNAL, 'the call has no result'))));
}

function settle({ definition, resolve, reject }: Waiting, { result }: CallResult): void {
  try {
    if (result.case === 'response') {
      resolve(definition.responseDeserialize(Buffer.from(result.value)));
      return;
    }
    const { code, message } = fromBinary(StatusSchema, result.value ?? new Uint8Array());
    reject(failure(code, message, result.value));
  } catch (error) {
    reject(failure(status.INTERNAL, `the response cannot be read: ${(error as Error).message}`));
  }
}

function overdue({ reject }: Waiting): void {
  reject(failure(status.DEADLINE_EXCEEDED, 'Deadline exceeded'));
}

/** The error that grpc-js would have made. */
function failure(code: status, details: string, statusDetails?: Uint8Array): ServiceError {
  const metadata = new Metadata();
  if (statusDetails) metadata.set('grpc-status-details-bin', Buffer.from(statusDetails));
  return Object.assign(new Error(`${code} ${status[code]}: ${details}`), { code, details, metadata });
}

function encode(request: { calls: object[] }): Buffer {
  return Buffer.from(toBinary(CallManyRequestSchema, create(CallManyRequestSchema, request)));
}

function decode(bytes: Buffer): CallManyResponse {
  return fromBinary(CallManyResponseSchema, bytes);
}
