/**
 * gRPC calls over one plain socket with as little work as can be: what it costs is missing from the servers it
 * measures. The parts of HTTP/2 (RFC 9113) and HPACK (RFC 7541) that a call needs, and no more.
 */
import { connect } from 'node:net';
import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
const FRAME_HEAD = 9;
/** Length of a message, and whether it is compressed. */
const MESSAGE_HEAD = 5;
/** No answer has to wait until the client has read others. */
const WINDOW = 2 ** 31 - 1;
const FIRST_WINDOW = 65_535;
const INITIAL_WINDOW_SIZE = 4;
/** Received bytes after which the connection's window is opened again. */
const REOPEN_BYTES = 2 ** 20;

interface Waiting {
  message: Buffer;
  /** Takes each message of a stream. */
  readonly onMessage?: (message: Buffer) => void;
  readonly resolve: (message: Buffer) => void;
  readonly reject: (error: Error) => void;
}

/** A client of one server, which is asked with a bearer token and a deadline of 30 s. */
export function grpcClient(address: string, token: string) {
  const [host = '', port] = address.split(':');
  const socket = connect({ host, port: Number(port), noDelay: true });
  const waiting = new Map<number, Waiting>();
  let lastStream = -1;
  let unread: Buffer = Buffer.alloc(0);
  let receivedBytes = 0;
  const settings = Buffer.alloc(6);
  settings.writeUInt16BE(INITIAL_WINDOW_SIZE);
  settings.writeUInt32BE(WINDOW, 2);
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(SETTINGS, 0, 0, settings));
  socket.write(frame(WINDOW_UPDATE, 0, 0, uint32(WINDOW - FIRST_WINDOW)));

  /** Frames of one turn of the event loop are written together. */
  function write(...frames: readonly Buffer[]): void {
    if (socket.writableCorked === 0) {
      socket.cork();
      setImmediate(() => socket.uncork());
    }
    for (const bytes of frames) socket.write(bytes);
  }

  function read(type: number, flags: number, stream: number, payload: Buffer): void {
    if (type === SETTINGS && flags !== ACK) write(frame(SETTINGS, ACK, 0));
    else if (type === PING && flags !== ACK) write(frame(PING, ACK, 0, payload));
    else if (type === GOAWAY) socket.destroy();
    if (type === DATA) receivedBytes += payload.length;
    if (receivedBytes > REOPEN_BYTES) {
      write(frame(WINDOW_UPDATE, 0, 0, uint32(receivedBytes)));
      receivedBytes = 0;
    }
    const call = waiting.get(stream);
    if (!call) return;
    if (type === DATA) {
      call.message = call.message.length > 0 ? Buffer.concat([call.message, payload]) : payload;
      if (call.onMessage) call.message = takeMessages(call.message, call.onMessage);
    }
    if (type !== RST_STREAM && (flags & END_STREAM) === 0) return;
    waiting.delete(stream);
    // A call that failed has an answer of headers alone.
    if (call.message.length > 0) call.resolve(call.message.subarray(MESSAGE_HEAD));
    else call.reject(new Error('the call failed'));
  }

  socket.on('data', (bytes: Buffer) => {
    unread = unread.length > 0 ? Buffer.concat([unread, bytes]) : bytes;
    while (unread.length >= FRAME_HEAD) {
      const end = FRAME_HEAD + unread.readUIntBE(0, 3);
      if (unread.length < end) return;
      const [type = 0, flags = 0] = unread.subarray(3, 5);
      read(type, flags, unread.readUInt32BE(5), unread.subarray(FRAME_HEAD, end));
      unread = unread.subarray(end);
    }
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('the connection ended before its answer'));
  });

  /** Sends a request. Returns the answer, or the rest of it after the messages that `onMessage` has taken. */
  function call<I extends DescMessage>(
    method: DescMethodUnary<I> | DescMethodServerStreaming<I>,
    head: Buffer,
    request: MessageInitShape<I>,
    onMessage?: (message: Buffer) => void,
  ): Promise<Buffer> {
    const message = toBinary(method.input, create(method.input, request));
    const stream = lastStream + 2;
    lastStream = stream;
    const answer = new Promise<Buffer>((resolve, reject) => {
      waiting.set(stream, { message: Buffer.alloc(0), resolve, reject, ...(onMessage && { onMessage }) });
    });
    const body = Buffer.concat([Buffer.of(0), uint32(message.length), message]);
    write(frame(HEADERS, END_HEADERS, stream, head), frame(DATA, END_STREAM, stream, body));
    return answer;
  }
  const headFor = ({ parent, name }: DescMethodUnary | DescMethodServerStreaming, timeout: Record<string, string>) =>
    headOf({ path: `/${parent.typeName}/${name}`, authority: address, token }, timeout);

  return {
    /** Returns how to call a method. Rejects when the call fails. */
    unary<I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
    ): (request: MessageInitShape<I>) => Promise<MessageShape<O>> {
      const head = headFor(method, { 'grpc-timeout': '30S' });
      return async (request) => fromBinary(method.output, await call(method, head, request));
    },
    /** Opens a stream and gives its encoded messages to `onMessage`. Rejects when the stream ends. */
    stream: <I extends DescMessage>(
      method: DescMethodServerStreaming<I>,
      request: MessageInitShape<I>,
      onMessage: (message: Buffer) => void,
    ) => call(method, headFor(method, {}), request, onMessage),
    close: () => void socket.destroy(),
  };
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.alloc(FRAME_HEAD + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, FRAME_HEAD);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Gives the complete messages at the start of the bytes away, and returns the rest. */
function takeMessages(bytes: Buffer, onMessage: (message: Buffer) => void): Buffer {
  let rest = bytes;
  while (rest.length >= MESSAGE_HEAD) {
    const end = MESSAGE_HEAD + rest.readUInt32BE(1);
    if (rest.length < end) break;
    onMessage(rest.subarray(MESSAGE_HEAD, end));
    rest = rest.subarray(end);
  }
  return rest;
}

/** Header fields of a call; all but the first two as literals that the server need not remember. */
function headOf(
  { path, authority, token }: { path: string; authority: string; token: string },
  more: Record<string, string>,
): Buffer {
  const fields = {
    ':path': path,
    ':authority': authority,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...more,
    authorization: `Bearer ${token}`,
  };
  const literals = Object.entries(fields).flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]);
  return Buffer.concat([Buffer.of(METHOD_POST, SCHEME_HTTP), ...literals]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  // A length of seven bits; longer ones go on in the next byte.
  const length = bytes.length < 127 ? [bytes.length] : [127, bytes.length - 127];
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** Places in HPACK's static table. */
const METHOD_POST = 0x83;
const SCHEME_HTTP = 0x86;
