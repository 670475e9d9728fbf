/** Many requests on one anonymous connection, sent at once and closed: they are forgotten when it closes. */
import { setTimeout as delay } from 'node:timers/promises';
import { Answers, type Attack, newAddress, openSocket, type Target } from './attack.ts';

const REQUEST = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n';
/** What a promise about pipelined requests allows a neighbour (docs/limits.md, "Neighbours"). */
const P99_LONGER_MS = 100;
/** Each request that is read gets one of these; a connection that is closed at once gets none. */
const MEETS = [401, 404, 429];

function pipeliner(requests: number): Attack {
  return {
    name: `${requests / 1_000} 000 pipelined requests on one anonymous connection, closed at once`,
    expects: 'forgotten when it closes',
    p99LongerMs: P99_LONGER_MS,
    run: (target) => pipeline(target, requests),
  };
}

async function pipeline({ file }: Target, requests: number) {
  const answers = new Answers();
  const socket = await openSocket(file.baseUrl, newAddress());
  // A status may be cut between two chunks. What is kept is too short to be counted twice.
  let rest = '';
  socket.on('data', (chunk: Buffer) => {
    const text = rest + chunk.toString('latin1');
    for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) answers.add(status);
    rest = text.slice(1 - STATUS_LENGTH);
  });
  let taken = 0;
  for (let written = 0; written < requests; written += PIECE) {
    socket.write(REQUEST.repeat(PIECE), 'latin1', (error) => {
      if (!error) taken += PIECE;
    });
  }
  await delay(CLOSED_AFTER_MS);
  const wasOpen = !socket.closed;
  const sent = taken;
  socket.destroy();
  await delay(AFTERWARDS_MS);
  answers.add(wasOpen ? 'closed by the sender' : 'closed');
  const unexpected = answers.notAmong([...MEETS, 'closed by the sender', 'closed']);
  answers.set(SENT, sent);
  return { answers, faults: unexpected };
}

/** A gateway that reads no further leaves the rest with its sender: what the kernel took bounds what it received. */
const SENT = 'left the sender';
/** Requests in one write. */
const PIECE = 1_000;
/** `HTTP/1.1 404`. */
const STATUS_LENGTH = 12;
/** Long enough for the kernel to take what was written. */
const CLOSED_AFTER_MS = 15;
/** What a closed connection left behind would be worked through now. */
const AFTERWARDS_MS = 3_000;

export const PIPELINERS: readonly Attack[] = [100_000, 300_000].map(pipeliner);
