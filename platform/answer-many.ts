/** The server's side of calls of the same moment sent as one (CallService, platform/call-many.ts). */
import { create } from '@bufbuild/protobuf';
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import {
  type Call,
  type CallManyRequest,
  type CallManyResponse,
  CallManyResponseSchema,
  type CallResult,
  CallResultSchema,
} from '../proto/gen/holdfast/v1/call_pb.js';
import { MOST_CALLS } from './call-many.ts';

/** The calls of one message, as grpc-js serves it. */
export type ManyCalls = ServerWritableStream<CallManyRequest, CallManyResponse>;

/**
 * Answers each call as soon as it is done; those that are done in one turn of the event loop, in one message. `answer`
 * never rejects.
 */
export async function answerMany(many: ManyCalls, answer: (call: Call) => Promise<CallResult['result']>) {
  const { calls } = many.request;
  // No interceptor checks this message.
  if (calls.length > MOST_CALLS) {
    many.emit('error', { code: status.INVALID_ARGUMENT, details: 'these are too many calls' });
    return;
  }
  // Each may wait for the caller to give up.
  many.setMaxListeners(MOST_CALLS + 8);
  let done: CallResult[] = [];
  let bytes = 0;
  const write = () => {
    if (done.length > 0) many.write(create(CallManyResponseSchema, { results: done }));
    done = [];
    bytes = 0;
  };
  const answered = async (call: Call, index: number) => {
    const result = await answer(call);
    const length = result.value?.length ?? 0;
    if (bytes + length > MOST_BYTES) write();
    bytes += length;
    done.push(create(CallResultSchema, { index, result }));
    if (done.length === 1) setImmediate(write);
  };
  await Promise.all(calls.map(answered));
  write();
  many.end();
}

/** Of the answers in one message: large ones go alone, since clients take 4 MiB. */
const MOST_BYTES = 1024 * 1024;
