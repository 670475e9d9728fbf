/**
 * Sends captures at a rate, or all at once, from a process of its own, whose event loop and connections are not those
 * that measure the neighbour.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openCaller } from '../merchants/caller.ts';

export interface FloodOptions {
  /** Undefined: a server in this process that refuses everything at once, to measure the cost of sending. */
  readonly baseUrl?: string | undefined;
  readonly apiKey: string;
  readonly preauthorizationIds: readonly string[];
  readonly calls: number;
  /** 0 = all at once. */
  readonly ratePerSecond: number;
  /** Opens a new connection for every call; otherwise reuses idle ones, and opens more when all are busy. */
  readonly connectionEach?: boolean | undefined;
}

/** One call of a flood; status 0 = the connection broke. */
export interface FloodAnswer {
  readonly status: number;
  readonly code: string;
  readonly tookMs: number;
}

/** Sends all calls of a flood. Resolves with the answers; rejects when the process fails. */
export async function sendFlood(options: FloodOptions): Promise<FloodAnswer[]> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(options)]);
  const exited = once(child, 'exit').then(([code]) => code);
  const answers = await Promise.race([once(child, 'message').then(([message]) => message), exited]);
  if (!Array.isArray(answers)) throw new Error(`the flood ended with exit code ${answers}`);
  await exited;
  return answers;
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const answers = await flood(JSON.parse(process.argv[2] ?? '') as FloodOptions);
  process.send(answers, undefined, undefined, () => process.disconnect());
}

async function flood(options: FloodOptions): Promise<FloodAnswer[]> {
  const { apiKey, preauthorizationIds, calls, ratePerSecond, connectionEach } = options;
  const refusing = options.baseUrl === undefined ? await startRefusing() : undefined;
  const caller = openCaller(options.baseUrl ?? refusing?.baseUrl ?? '', { connectionEach });
  const capture = async (index: number): Promise<FloodAnswer> => {
    const preauthorizationId = preauthorizationIds[index % preauthorizationIds.length];
    const body = { preauthorizationId, amountToCapture: 1 };
    const heard = await caller.send({ apiKey, path: '/preauthorization/authorization', body });
    return { status: heard.status, code: heard.body.code ?? '', tookMs: heard.tookMs };
  };
  const sent: Promise<FloodAnswer>[] = [];
  const startedMs = performance.now();
  while (sent.length < calls) {
    const due = ratePerSecond === 0 ? calls : ((performance.now() - startedMs) / 1_000) * ratePerSecond;
    while (sent.length < Math.min(calls, due)) sent.push(capture(sent.length));
    await delay(5);
  }
  const answers = await Promise.all(sent);
  await caller.close();
  refusing?.close();
  return answers;
}

async function startRefusing(): Promise<{ baseUrl: string; close(): void }> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(429, { 'Retry-After': '1', 'Content-Length': '0' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, close: () => server.close().closeAllConnections() };
}
