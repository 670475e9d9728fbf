/** Starts a Redis for one test: on a free port, without persistence, stopped by its process id. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from '../../../services/quickstart/ports.ts';

/** A server that a test can stop, start and suspend. */
export interface RedisServer {
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Resolves when the given number of clients, besides the test's own, have connected. */
  connected(clients?: number): Promise<void>;
}

/** For limits whose Redis is to answer: time enough on a busy machine, too. */
export const PATIENT = { redisTimeoutMs: 20_000 };

/** Path of `redis-server`, if installed. */
export function findRedis(): string | undefined {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'redis-server'));
  return candidates.find(isExecutable);
}

/** Starts the server and waits until it answers. */
export async function startRedis(binary: string): Promise<RedisServer> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  let client: Redis | undefined;
  const server: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    start: async () => {
      const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
      child = spawn(binary, options, { stdio: 'ignore' });
      client = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null, retryStrategy: () => 20 });
      client.on('error', () => undefined);
      await client.ping();
    },
    stop: async () => {
      client?.disconnect();
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
    pause: () => child?.kill('SIGSTOP'),
    resume: () => child?.kill('SIGCONT'),
    connected: async (clients = 1) => {
      for (;;) {
        const list = String(await client?.client('LIST'))
          .trim()
          .split('\n');
        await delay(10);
        if (list.filter((line) => /cmd=(?!NULL)/.test(line)).length > clients) return;
      }
    },
  };
  await server.start();
  return server;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
