import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageShape } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import { credentials } from '@grpc/grpc-js';
import { type GrpcClient, openChannel } from '../../platform/grpc-client.ts';
import { ProcessorService } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { CallService } from '../../proto/gen/holdfast/v1/call_pb.js';
import type { Profile } from './profile.ts';

export type Client = GrpcClient<typeof ProcessorService>;
export type Adapter = ReturnType<typeof openAdapter>;

/** A busy machine may need long. */
const TIMEOUT_MS = 60_000;
const validator = createValidator();

/** Opens channels to the adapter under test; none of them connects before the first call. */
export function openAdapter(address: string, credential: string) {
  const security = credentials.createInsecure();
  const open = (token: string) => openChannel({ address, credentials: security, token, timeoutMs: TIMEOUT_MS });
  const channel = open(credential);
  const strange = open('not-the-credential-of-anybody-at-all');
  return {
    client: validated(channel.client(ProcessorService)),
    /** Calls of one moment in one message, for adapters that take them. */
    together: channel.client(CallService),
    /** A client that shows another credential, and is unchecked; undefined when the adapter wants none. */
    stranger: credential === '' ? undefined : strange.client(ProcessorService),
    strangeTogether: credential === '' ? undefined : strange.client(CallService),
    close() {
      channel.close();
      strange.close();
    },
  };
}

/** A client whose calls reject when the adapter answers what the contract does not allow. */
function validated(client: Client): Client {
  const methods = ProcessorService.methods.map((method) => {
    const call = client[method.localName as keyof Client] as (...args: unknown[]) => Promise<object>;
    const checked = async (...args: unknown[]) => {
      const response = await call(...args);
      const { violations } = validator.validate(method.output, response as MessageShape<typeof method.output>);
      if (violations) assert.fail(`${method.name} answered what the contract does not allow: ${violations.join('; ')}`);
      return response;
    };
    return [method.localName, checked];
  });
  return Object.fromEntries(methods) as Client;
}

export type AdapterProcess = ReturnType<typeof adapterProcess>;

const STDERR_LENGTH = 2_000;

/** Prepares a process by the profile; nothing is started yet. */
export function adapterProcess(settings: NonNullable<Profile['process']>, client: Client) {
  const { command, env, readyWithinMs } = settings;
  let child: ChildProcess | undefined;

  /**
   * Starts it and waits until it answers. Throws an Error with the end of its standard error when it does not, and when
   * another process answers in its place, which would be judged instead.
   */
  async function start(): Promise<void> {
    if (await answers(client)) throw new Error('the adapter is not started: something answers at its address already');
    const [program = '', ...args] = command;
    const started = spawn(program, args, {
      env: { ...process.env, ...env },
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = started;
    // It is in a process group of its own, which a Ctrl-C at the kit does not reach.
    process.once('exit', killNow);
    let stderr = '';
    let failed: Error | undefined;
    started.on('error', (error) => (failed = error));
    started.stderr.on('data', (data) => (stderr = `${stderr}${data}`.slice(-STDERR_LENGTH)));
    const endMs = performance.now() + readyWithinMs;
    while (!(await answers(client))) {
      const gone = failed !== undefined || started.exitCode !== null || started.signalCode !== null;
      if (!gone && performance.now() < endMs) {
        await sleep(50);
        continue;
      }
      await kill();
      const why = gone ? 'ended before it answered' : `did not answer within ${readyWithinMs} ms`;
      throw new Error(`the adapter ${why}: ${failed?.message ?? stderr}`);
    }
  }

  function killNow(): boolean {
    const { pid, exitCode, signalCode } = child ?? {};
    if (pid === undefined || exitCode !== null || signalCode !== null) return false;
    return process.kill(-pid, 'SIGKILL');
  }

  /** Kills it and all that it started, with SIGKILL, and waits until it is gone. */
  async function kill(): Promise<void> {
    process.off('exit', killNow);
    const exited = child && once(child, 'exit');
    if (killNow()) await exited;
  }

  return { start, kill };
}

async function answers(client: Client): Promise<boolean> {
  return client.describe({}, { timeoutMs: 1_000 }).then(
    () => true,
    () => false,
  );
}
