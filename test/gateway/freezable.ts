/** A gateway in front of a core in a process of its own, which can be frozen, and whose database can be. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { startGateway } from '../../gateway/gateway.ts';
import { GATEWAY_SETTINGS } from '../../gateway/settings.ts';
import { openLog } from '../../platform/log.ts';
import { readSettings } from '../../platform/settings.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import { contract, openStage } from '../services/core/stage.ts';

export type Freezable = Awaited<ReturnType<typeof openFreezable>>;

/** The parts of an answer that tests read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of the body.
  readonly body: any;
}

/** Opens them, with a merchant; calls to core have `timeoutMs`. */
export async function openFreezable(timeoutMs = 6_000) {
  const stage = await openStage();
  stage.clock.advance(Date.now() - stage.clock.now());
  const { tokens, settings, sandbox } = stage;
  const corePort = await freePort();
  const core = await startCore({
    DATABASE_URL: settings.DATABASE_URL,
    CORE_PORT: String(corePort),
    PROCESSOR_URL: `127.0.0.1:${sandbox.grpcPort}`,
    PROCESSOR_CREDENTIAL: tokens.credential,
    PROCESSOR_TOKEN: tokens.processor,
    GATEWAY_TOKEN: tokens.gateway,
    SERVICE_TOKEN: tokens.internal,
    OPERATOR_TOKEN: tokens.operator,
    // One for each of many calls at once, since a frozen database takes no new ones.
    DATABASE_POOL_SIZE: '60',
    ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
  });
  const gateway = await startGateway(
    readSettings(GATEWAY_SETTINGS, {
      GATEWAY_TOKEN: tokens.gateway,
      CORE_URL: `127.0.0.1:${corePort}`,
      CORE_TIMEOUT_MS: String(timeoutMs),
      PORT: '0',
    }),
    { log: openLog('test', 'silent') },
  );
  await gateway.ready;

  async function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const bearer = path.startsWith('/operator') ? tokens.operator : merchant.apiKey;
    const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
      method,
      headers: {
        // A session's cookie stands for the token.
        ...(headers.cookie === undefined && { authorization: `Bearer ${bearer}` }),
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text) } as Answer;
  }
  const { holdPeriod: _, ...terms } = contract();
  const merchant = { apiKey: '' };
  const created = await ask('POST', '/operator/merchants', {
    merchantId: 'acme',
    name: 'Acme',
    contract: { ...terms, holdPeriodSeconds: 86_400 },
    apiKeyManagesWebhook: true,
  });
  merchant.apiKey = created.body.apiKey;
  return {
    stage,
    ask,
    place: async () => {
      const order = { tokenId: 'tok_sandbox_ok', amount: 1_000, currency: 'EUR', terminalId: 'T1', userId: 'u' };
      return (await ask('POST', '/preauthorization', order)).body;
    },
    /** Stops core; returns what continues it. */
    freezeCore: async () => {
      const wake = stopped([core.pid]);
      return async () => wake();
    },
    /** Lets core open a connection to the database for each of many calls at once, until it answers them all. */
    openConnections: async () => {
      const create = () => {
        const merchantId = `w${randomBytes(10).toString('hex')}`;
        const contract = { ...terms, holdPeriodSeconds: 86_400 };
        return ask('POST', '/operator/merchants', { merchantId, name: merchantId, contract });
      };
      for (let all = false; !all; ) {
        const answers = await Promise.all(Array.from({ length: 30 }, create));
        all = answers.every(({ status }) => status === 201);
      }
    },
    /** Stops the database's sessions, and lets no new ones in; returns what continues them. */
    freezeDatabase: async () => {
      const name = new URL(settings.DATABASE_URL).pathname.slice(1);
      const admits = (most: number) => stage.sqlPool.query(`alter database ${name} connection limit ${most}`);
      await admits(0);
      const sessions =
        "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'";
      const { rows } = await stage.sqlPool.query<{ pid: number }>(sessions);
      const wake = stopped(rows.map(({ pid }) => pid));
      return async () => {
        wake();
        await admits(-1);
      };
    },
    async close() {
      await gateway.close();
      core.kill('SIGKILL');
      await stage.close();
    },
  };
}

async function startCore(environment: Record<string, string>): Promise<ChildProcess> {
  const core = spawn(process.execPath, ['services/core/index.ts'], {
    env: { PATH: process.env.PATH, ...environment, CONNECT_PORT: '0', LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await Promise.race([
    once(core, 'message'),
    once(core, 'exit').then(([code]) => Promise.reject(new Error(`${code}`))),
  ]);
  return core;
}

function stopped(pids: readonly (number | undefined)[]): () => void {
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of pids) {
      try {
        if (pid !== undefined) process.kill(pid, name);
      } catch (error) {
        // The session has ended since it was listed.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  };
  signal('SIGSTOP');
  return () => signal('SIGCONT');
}
