import type { Socket } from 'node:net';

/**
 * Hands Node's parser what was read from a connection of HTTP/1.1 in slices that each end with a head, and none while
 * the connection is paused. Otherwise it parses all that one read brought (64 KiB, about 2 000 requests) before anybody
 * can pause it. Call it once the HTTP server has the connection, also when TLS carries it.
 */
export function sliceRequests(socket: Socket): void {
  const [push, read] = [socket.push.bind(socket), socket._read.bind(socket)];
  let waiting: Buffer = NOTHING;
  let ended = false;
  let slices = 0;
  let isScheduled = false;
  const passOn = (): boolean => {
    isScheduled = false;
    if (waiting.length === 0 || socket.destroyed) return false;
    const length = sliceLength(waiting);
    const slice = waiting.subarray(0, length);
    waiting = waiting.subarray(length);
    const wantsMore = push(slice);
    if (waiting.length === 0) return ended ? push(null) : wantsMore;
    schedule();
    return false;
  };
  const passOnUnlessPaused = () => {
    isScheduled = false;
    if (socket.readableFlowing !== false) passOn();
  };
  // At the end of each message Node resumes the connection, in the next tick, and then it may be paused again.
  const schedule = () => {
    if (isScheduled) return;
    isScheduled = true;
    slices += 1;
    if (slices % SLICES_A_TURN === 0) setImmediate(passOnUnlessPaused);
    else process.nextTick(passOnUnlessPaused);
  };
  socket._read = (size) => {
    if (waiting.length === 0) read(size);
  };
  socket.push = (chunk: Buffer | null) => {
    if (chunk === null) {
      ended = true;
      return waiting.length === 0 && push(null);
    }
    if (waiting.length > 0) {
      waiting = Buffer.concat([waiting, chunk]);
      return false;
    }
    waiting = chunk;
    // Also when it is paused: a stream that was asked to read is asked again after a push only.
    return passOn();
  };
  socket.on('resume', () => {
    if (waiting.length > 0) schedule();
  });
  socket.once('close', () => {
    waiting = NOTHING;
  });
  // Node's parser reads the connection itself, past the stream, until somebody else listens to it.
  socket.on('data', () => undefined);
}

/**
 * Up to and with the first empty line, with which a head ends, and the rest, too, when that has no other empty line: a
 * body, or the next head's beginning.
 */
function sliceLength(bytes: Buffer): number {
  const blank = bytes.indexOf(EMPTY_LINE);
  const headEnd = blank + EMPTY_LINE.length;
  return blank === -1 || bytes.indexOf(EMPTY_LINE, headEnd) === -1 ? bytes.length : headEnd;
}

const NOTHING = Buffer.alloc(0);
const EMPTY_LINE = '\n\r\n';
/** Bodies may have any number of empty lines. */
const SLICES_A_TURN = 16;
