/**
 * Many requests on one anonymous connection, sent at once. Closed, they are forgotten; open, they are answered in turns
 * with other connections.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Answers, type Attack, newAddress, openSocket, type Target } from './attack.ts';

const REQUEST = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n';
/** What a promise about pipelined requests allows a neighbour (docs/limits.md, "Neighbours"). */
const P99_LONGER_MS = 100;
/** Each request that is read gets one of these; a connection that is closed at once gets none. */
const MEETS = [401, 404, 429];

function pipeliner(requests: number, openMs: number): Attack {
  const isClosed = openMs === CLOSED_AFTER_MS;
  return {
    name:
      `${requests / 1_000} 000 pipelined requests on one anonymous connection, ` +
      `${isClosed ? 'closed at once' : 'kept open'}`,
    expects: isClosed ? 'forgotten when it closes' : 'answered in turns',
    p99LongerMs: P99_LONGER_MS,
    ...(requests === 100_000 && { short: true }),
    run: (target) => pipeline(target, requests, openMs),
  };
}

async function pipeline({ file }: Target, requests: number, openMs: number) {
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
  await delay(openMs);
  const wasOpen = !socket.closed;
  const sent = taken;
  socket.destroy();
  await delay(AFTERWARDS_MS);
  const faults = answers.notAmong(MEETS);
  if (openMs > CLOSED_AFTER_MS && (answers.size === 0 || !wasOpen)) faults.push('the requests were not answered');
  answers.add(wasOpen ? 'closed by the sender' : 'closed');
  answers.set(SENT, sent);
  return { answers, faults };
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

const OPEN_MS = 5_000;

export const PIPELINERS: readonly Attack[] = [CLOSED_AFTER_MS, OPEN_MS].flatMap((openMs) =>
  [100_000, 300_000].map((requests) => pipeliner(requests, openMs)),
);
