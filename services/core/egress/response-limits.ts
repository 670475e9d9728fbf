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
    return this.#takeHead(rest);
  }

  /** Holds the head of the final answer back until it is whole; what does not begin as one is passed on. */
  #takeHead(rest: Buffer): Buffer {
    const text = rest.toString('latin1', 0, MAX_HEAD_BYTES);
    const [blank] = /\r?\n\r?\n/.exec(text) ?? [];
    if (blank === undefined && rest.length < MAX_HEAD_BYTES && /^HTTP\/1\.[01] \d/.test(text)) {
      this.#pending = rest;
      return NOTHING;
    }
    this.#isFinal = true;
    if (blank === undefined) return rest;
    const end = text.indexOf(blank);
    return Buffer.concat([plainHead(text.slice(0, end)), rest.subarray(end + blank.length)]);
  }

  /** Counts bytes for the client. Returns the reason to abort, if there is one. */
  pass(bytes: number): string | undefined {
    if (this.#passedBytes > MAX_ANSWER_BYTES) return `the answer is longer than ${MAX_ANSWER_BYTES} bytes`;
    this.#passedBytes += bytes;
    return undefined;
  }
}

/**
 * Returns a head that the strict client can read. Because of a header that says nothing about the answer the client
 * would reject a 2xx, and the notification would be sent again. Dropped are a reason phrase, a line that is no header
 * field, and a length that stands beside `Transfer-Encoding`, which overrides it (RFC 9112, section 6.3), or is given
 * in two ways.
 */
function plainHead(head: string): Buffer {
  const [status = '', ...lines] = head.split(/\r?\n/);
  const fields = lines.filter((line) => FIELD.test(line));
  const lengths = fields.filter((line) => LENGTH.test(line));
  const others = fields.filter((line) => !LENGTH.test(line));
  const isChunked = others.some((line) => /^transfer-encoding:/i.test(line));
  const [length, ...more] = new Set(lengths.map((line) => line.replace(LENGTH, '').trim()));
  const hasLength = !isChunked && more.length === 0 && length !== undefined && /^\d+$/.test(length);
  const kept = hasLength ? [...others, `content-length: ${length}`] : others;
  return Buffer.from(`${[status.slice(0, STATUS_LINE_BYTES), ...kept].join('\r\n')}\r\n\r\n`, 'latin1');
}

/** RFC 9110, section 5: a name, a colon, and a value without control characters but tabs. */
const FIELD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;
const LENGTH = /^content-length:/i;

/** 101 is passed to the client, which rejects a protocol that it did not ask for. */
function isInformational(bytes: Buffer): boolean {
  return /^HTTP\/1\.[01] (?!101)1\d\d/.test(bytes.toString('latin1', 0, STATUS_LINE_BYTES));
}

const NOTHING = Buffer.alloc(0);
/** A beginning of an informational head that is too short to tell. */
const MAY_BE_INFORMATIONAL = /^(H(T(T(P(\/(1(\.([01]( (1\d?)?)?)?)?)?)?)?)?)?)?$/;
/** `HTTP/1.1 103`: a status line without its reason phrase, which the client needs no more than we do. */
const STATUS_LINE_BYTES = 12;
/** Real servers send one or two. */
const MAX_INFORMATIONAL_HEADS = 10;
const MAX_INFORMATIONAL_BYTES = 16 * 1_024;
/** As much as the client reads of a head. */
const MAX_HEAD_BYTES = 16 * 1_024;
/** Head, framing and trailers of an answer of which 8 KiB are read. */
const MAX_ANSWER_BYTES = 64 * 1_024;
/** Beyond its limit for heads the client creates an error for each further line: 64 KiB at once took 200 ms. */
const SLICE_BYTES = 1_024;
