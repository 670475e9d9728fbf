import type { Socket } from 'node:net';

/**
 * Limits what an endpoint may send in answer to one request, including informational heads, chunk extensions and
 * trailers. The HTTP client does not show these, so bytes are counted as they leave the socket. Informational heads
 * (1xx, RFC 9110 section 15.2) are dropped: the client fails on an unexpected `100 Continue` and reads any number of
 * others.
 *
 * Call it on a new connection. The client sends one request at a time, so a write after a read starts a new answer.
 */
export function boundAnswers(socket: Socket): void {
  const [push, read] = [socket.push.bind(socket), socket._read.bind(socket)];
  const write = socket.write.bind(socket) as (...parameters: unknown[]) => boolean;
  let answer = new AnswerBytes();
  let waiting: Buffer = NOTHING;
  let ended = false;
  const refuse = (refusal: string) => {
    waiting = NOTHING;
    socket.destroy(new Error(refusal));
    return false;
  };
  /** Passes a slice to the client, which parses it before the next one. */
  const passOn = (): boolean => {
    if (socket.destroyed) return false;
    const slice = waiting.subarray(0, SLICE_BYTES);
    waiting = waiting.subarray(SLICE_BYTES);
    if (waiting.length > 0) setImmediate(passOn);
    const refusal = answer.pass(slice.length);
    if (refusal !== undefined) return refuse(refusal);
    const wantsMore = push(slice);
    if (waiting.length === 0 && ended) push(null);
    return wantsMore && waiting.length === 0;
  };
  socket.write = (...parameters: unknown[]) => {
    if (answer.begun) answer = new AnswerBytes();
    return write(...parameters);
  };
  socket._read = (size) => {
    if (waiting.length === 0) read(size);
  };
  socket.push = (chunk: Buffer | null) => {
    if (chunk === null) {
      ended = true;
      return waiting.length > 0 || push(null);
    }
    const final = answer.take(chunk);
    if (typeof final === 'string') return refuse(final);
    if (final.length === 0) return true;
    const idle = waiting.length === 0;
    waiting = idle ? final : Buffer.concat([waiting, final]);
    return idle && passOn();
  };
}

/** The bytes read of one answer. */
class AnswerBytes {
  #informationalHeads = 0;
  #passedBytes = 0;
  /** The beginning of a head that may be informational, held back. */
  #pending: Buffer = NOTHING;
  #isFinal = false;
  begun = false;

  /** Takes bytes that were read. Returns the bytes for the client, or the reason to abort. */
  take(chunk: Buffer): Buffer | string {
    this.begun = true;
    if (this.#isFinal) return chunk;
    let rest = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    this.#pending = NOTHING;
    while (isInformational(rest)) {
      const end = rest.indexOf('\r\n\r\n');
      if (end === -1) break;
      this.#informationalHeads += 1;
      if (this.#informationalHeads > MAX_INFORMATIONAL_HEADS) return 'the answer has too many informational heads';
      rest = rest.subarray(end + 4);
    }
    if (isInformational(rest) || MAY_BE_INFORMATIONAL.test(rest.toString('latin1', 0, STATUS_LINE_BYTES))) {
      if (rest.length > MAX_INFORMATIONAL_BYTES) return 'an informational head is too long';
      this.#pending = rest;
      return NOTHING;
    }
    this.#isFinal = true;
    return rest;
  }

  /** Counts bytes for the client. Returns the reason to abort, if there is one. */
  pass(bytes: number): string | undefined {
    if (this.#passedBytes > MAX_ANSWER_BYTES) return `the answer is longer than ${MAX_ANSWER_BYTES} bytes`;
    this.#passedBytes += bytes;
    return undefined;
  }
}

/** 101 is passed to the client, which rejects a protocol that it did not ask for. */
function isInformational(bytes: Buffer): boolean {
  return /^HTTP\/1\.[01] (?!101)1\d\d/.test(bytes.toString('latin1', 0, STATUS_LINE_BYTES));
}

const NOTHING = Buffer.alloc(0);
/** A beginning of an informational head that is too short to tell. */
const MAY_BE_INFORMATIONAL = /^(H(T(T(P(\/(1(\.([01]( (1\d?)?)?)?)?)?)?)?)?)?)?$/;
/** `HTTP/1.1 103`: enough to tell an informational head from a final one. */
const STATUS_LINE_BYTES = 12;
/** Real servers send one or two. */
const MAX_INFORMATIONAL_HEADS = 10;
const MAX_INFORMATIONAL_BYTES = 16 * 1_024;
/** Head, framing and trailers of an answer of which 8 KiB are read. */
const MAX_ANSWER_BYTES = 64 * 1_024;
/** Beyond its limit for heads the client creates an error for each further line: 64 KiB at once took 200 ms. */
const SLICE_BYTES = 1_024;
