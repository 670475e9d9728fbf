/** Sends one request as `check-receiver` needs it: on its own connection or a shared one, whole, in pieces or cut. */
import { once } from 'node:events';
import { type Agent, type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { withDeadline } from '../../deadline.ts';
import type { Sent } from './sample.ts';

/** What came back: a status, or the reason why none did. */
export interface Answer {
  readonly status?: number;
  /** The code of the system or of TLS, or what this program says. */
  readonly error?: string;
  /** The address of a redirect. */
  readonly location?: string;
}

/** How a request goes out. */
export interface Line {
  /** The receiver's address, to which the path is appended. */
  readonly url: string;
  /** Certificates that are trusted. */
  readonly ca?: readonly string[];
  /** Shared by requests that use one connection; false = a connection of its own. */
  readonly agent: Agent | false;
  readonly signal: AbortSignal;
  /** Default as for a delivery, 10 s. */
  readonly attemptMs?: number;
}

const ATTEMPT_MS = 10_000;

/** As much of an answer as a delivery reads. */
const ANSWER_BYTES = 8_192;

/** Between two pieces, and before a request is broken off: long enough for a receiver to see them apart. */
const PAUSE_MS = 40;

/** Sends a request. Redirects are not followed. Never throws: what goes wrong is in the answer. */
export async function send(line: Line, sent: Sent): Promise<Answer> {
  let answer: Answer = {};
  try {
    await withDeadline(line.attemptMs ?? ATTEMPT_MS, line.signal, async (signal) => {
      const request = open(line, sent, signal);
      const answered = once(request, 'response') as Promise<[IncomingMessage]>;
      // It may fail while the body is being written, and more than once.
      answered.catch(() => undefined);
      request.on('error', () => undefined);
      await write(request, sent);
      if (sent.must === 'nothing') return;
      const [response] = await answered;
      const { statusCode: status, headers } = response;
      answer = { ...(status !== undefined && { status }), ...(headers.location && { location: headers.location }) };
      await drain(response);
    });
  } catch (error) {
    if (answer.status !== undefined) return answer; // Whatever follows the headers does not matter.
    const { code, message, cause } = error as NodeJS.ErrnoException;
    return {
      error: code === 'ABORT_ERR' ? String((cause as Error | undefined)?.message ?? message) : (code ?? message),
    };
  }
  return answer;
}

function open({ url, ca, agent }: Line, { method, path, headers, body }: Sent, signal: AbortSignal) {
  const length = method === 'POST' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
  const options = {
    method,
    agent,
    signal,
    headers: { ...headers, ...length, ...(agent === false && { connection: 'close' }) },
    ...(ca && { ca: [...ca] }),
  };
  return url.startsWith('https:') ? requestTls(url + path, options) : requestPlain(url + path, options);
}

async function write(request: ClientRequest, { must, body, pieces = 1 }: Sent): Promise<void> {
  const bytes = Buffer.from(body as string);
  if (must === 'nothing') {
    request.write(bytes.subarray(0, bytes.length / 2));
    await delay(PAUSE_MS);
    request.destroy();
    return;
  }
  const size = Math.ceil(bytes.length / pieces);
  for (let piece = 1; piece < pieces; piece++) {
    request.write(bytes.subarray((piece - 1) * size, piece * size));
    await delay(PAUSE_MS);
  }
  request.end(bytes.subarray((pieces - 1) * size));
}

async function drain(response: IncomingMessage): Promise<void> {
  let count = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    count += chunk.length;
    if (count > ANSWER_BYTES) break; // To leave the loop ends the connection.
  }
}
