import type { Socket } from 'node:net';

/**
 * Bounds what an endpoint may send in answer to one request, whatever it is: informational heads, chunk extensions, trailers. The HTTP client
 * shows us none of these, so the bytes are counted as they leave the socket. Informational heads (1xx, RFC 9110 section 15.2) are
 * dropped here: the client takes an unasked `100 Continue` for a fault, and reads any number of the others.
 *
 * Call it on a fresh connection. The client sends one request at a time, so writing after something was read begins a new answer.
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
  /** Passes on a slice; the client judges it before the next one comes. */
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

/** What has been read of one answer. */
class AnswerBytes {
  #informationalHeads = 0;
  #passedBytes = 0;
  /** The beginning of a head that may be informational. */
  #pending: Buffer = NOTHING;
  #isFinal = false;
  begun = false;

  /** Takes what was read; answers what of it the client may have, or why the answer must be broken off. */
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

  /** Counts what the client gets. Answers why the answer must be broken off, if so: it would have ended by itself long ago. */
  pass(bytes: number): string | undefined {
    if (this.#passedBytes > MAX_ANSWER_BYTES) return `the answer is longer than ${MAX_ANSWER_BYTES} bytes`;
    this.#passedBytes += bytes;
    return undefined;
  }
}

/** 101 is passed on: the client refuses a protocol that it did not ask for. */
function isInformational(bytes: Buffer): boolean {
  return /^HTTP\/1\.[01] (?!101)1\d\d/.test(bytes.toString('latin1', 0, STATUS_LINE_BYTES));
}

const NOTHING = Buffer.alloc(0);
/** A shorter beginning of an informational head. */
const MAY_BE_INFORMATIONAL = /^(H(T(T(P(\/(1(\.([01]( (1\d?)?)?)?)?)?)?)?)?)?)?$/;
/** `HTTP/1.1 103`: as much as tells an informational head from a final one. */
const STATUS_LINE_BYTES = 12;
/** Real servers send one or two, each no longer than a head may be. */
const MAX_INFORMATIONAL_HEADS = 10;
const MAX_INFORMATIONAL_BYTES = 16 * 1_024;
/** Head, framing and trailers of an answer of which 8 KiB are read. */
const MAX_ANSWER_BYTES = 64 * 1_024;
/**
 * Once its limit of a head or of trailers is passed, the client makes an error of every further line of what it was given: 64 KiB at once took 200 ms.
 */
const SLICE_BYTES = 1_024;
