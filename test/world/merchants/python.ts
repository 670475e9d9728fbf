/**
 * Intentions that the Python client carries out, in a process of its own; each of its tries is heard on the way to the
 * gateway.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { serveLocally } from '../../local-server.ts';
import type { Caller, Heard } from './caller.ts';
import type { Intention, Told } from './intention.ts';

/** What the client made of an intention. */
export type Answered = Pick<Told, 'outcome' | 'requestId' | 'preauthorizationId'>;

export interface PythonClient {
  /** Carries out an intention; `hear` is called with each answer that the client gets. */
  want(intention: Intention, patienceMs: number, hear: (heard: Heard) => void): Promise<Answered>;
  close(): Promise<void>;
}

/**
 * Starts the client. It reaches the gateway through this process, which hands on each try and each answer, and cuts
 * where it was cut.
 */
export async function openPythonClient(caller: Caller): Promise<PythonClient> {
  const hearing = new Map<string, (heard: Heard) => void>();
  const waiting = new Map<string, PromiseWithResolvers<Answered>>();
  const between = await serveLocally(async (request, response) => {
    const key = String(request.headers['idempotency-key']);
    const apiKey = String(request.headers.authorization).replace('Bearer ', '');
    const body = (await json(request)) as object;
    const heard = await caller.send({ apiKey, path: String(request.url), body, key });
    hearing.get(key)?.(heard);
    if (heard.status === 0) return response.destroy();
    const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...headers } = heard.headers;
    response.writeHead(heard.status, headers as Record<string, string>).end(JSON.stringify(heard.body));
  });
  const folder = fileURLToPath(new URL('../../../client/python', import.meta.url));
  const program = fileURLToPath(new URL('./python_client.py', import.meta.url));
  const child = spawn('python3', [program, folder, between.url], { stdio: ['pipe', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { key, failure, outcome, ...answer } = JSON.parse(line);
    const { resolve, reject } = waiting.get(key) ?? assert.fail(line);
    if (failure === undefined)
      resolve({ outcome: outcome === 'unknown' ? 'undecided' : outcome, ...withoutNull(answer) });
    else reject(new Error(`the Python client failed: ${failure}`));
  });
  return {
    async want({ kind, merchant, body }, patienceMs, hear) {
      const key = randomUUID();
      const answered = Promise.withResolvers<Answered>();
      hearing.set(key, hear);
      waiting.set(key, answered);
      // A client that has no time at all does not try.
      const timeoutS = Math.max(patienceMs, 1_000) / 1_000;
      child.stdin.write(`${JSON.stringify({ key, kind, body, apiKey: merchant.apiKey, timeoutS })}\n`);
      try {
        return await answered.promise;
      } finally {
        waiting.delete(key);
      }
    },
    async close() {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
      await between.close();
    },
  };
}

function withoutNull(answer: Record<string, string | null>): Pick<Answered, 'requestId' | 'preauthorizationId'> {
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null));
}
