/** Machines made of Linux network namespaces: they can be killed, frozen and silenced like real ones. Needs root. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { freeze, signal } from '../deployment/freeze.ts';

export type Machine = Awaited<ReturnType<typeof openMachine>>;

/**
 * Connects machines, this process and its children by one bridge. This process must be in a network namespace of its
 * own.
 */
export async function openMachines(names: readonly string[]): Promise<ReadonlyMap<string, Machine>> {
  ip('link', 'add', BRIDGE, 'type', 'bridge');
  ip('addr', 'add', `${addressOf(0)}/24`, 'dev', BRIDGE);
  ip('link', 'set', BRIDGE, 'address', hardwareOf(0), 'up');
  const machines = await Promise.all(names.map((name, index) => openMachine(name, index + 1)));
  return new Map(machines.map((machine) => [machine.name, machine]));
}

const BRIDGE = 'holdfast';
const addressOf = (index: number) => `10.213.0.${index + 1}`;
const hardwareOf = (index: number) => `02:00:00:00:00:${(index + 1).toString(16).padStart(2, '0')}`;
/**
 * More than there are machines: each knows the hardware address of all, so that a silent one is not reported as
 * unreachable.
 */
const MOST = 10;

async function openMachine(name: string, index: number) {
  const holder = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' });
  const pid = holder.pid ?? assert.fail('unshare is not installed');
  while (namespaceOf(pid) === namespaceOf('self')) await delay(10);
  const namespace = namespaceOf(pid);
  const inside = ['--target', String(pid), '--net'];
  const port = `machine-${index}`;
  ip('link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid));
  const connect = () => ip('link', 'set', port, 'master', BRIDGE, 'up');
  const disconnect = () => ip('link', 'set', port, 'nomaster');
  connect();
  const nsenter = (...command: string[]) => execFileSync('nsenter', [...inside, ...command]);
  nsenter('ip', 'addr', 'add', `${addressOf(index)}/24`, 'dev', 'eth0');
  nsenter('ip', 'link', 'set', 'eth0', 'address', hardwareOf(index), 'up');
  nsenter('ip', 'link', 'set', 'lo', 'up');
  const point = (address: string, hardware: string) =>
    nsenter('ip', 'neigh', 'replace', address, 'lladdr', hardware, 'dev', 'eth0', 'nud', 'permanent');
  for (let other = 0; other < MOST; other++) if (other !== index) point(addressOf(other), hardwareOf(other));
  ip('neigh', 'add', addressOf(index), 'lladdr', hardwareOf(index), 'dev', BRIDGE, 'nud', 'permanent');
  /** The processes with this name, by default all. */
  const pids = (wanted?: string) => {
    const here = processes().filter((each) => each !== pid && namespaceOf(each) === namespace);
    return wanted === undefined ? here : here.filter((each) => commandOf(each) === wanted);
  };
  /** Kills everything on it with -9; no packet tells anybody. Returns how to connect the machine again. */
  const kill = async () => {
    disconnect();
    for (let left = pids(); left.length > 0; left = pids()) {
      for (const each of left) signal(each, 'SIGKILL');
      await delay(50);
    }
    return connect;
  };
  return {
    name,
    address: addressOf(index),
    hardware: hardwareOf(index),
    /** Runs a program as `postgres`; its output is appended to the log. */
    run(command: readonly string[], environment: Readonly<Record<string, string>>, logFile: string): void {
      const log = openSync(logFile, 'a', 0o600);
      const asPostgres = ['setpriv', '--reuid', 'postgres', '--regid', 'postgres', '--clear-groups', ...command];
      const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', ...environment };
      const child = spawn('nsenter', [...inside, ...asPostgres], { env, stdio: ['ignore', log, log] });
      child.on('error', (error) => assert.fail(error));
      closeSync(log);
    },
    pids,
    freeze: () => freeze(pids()),
    /** Drops all packets in both directions; returns how to end it. */
    silence() {
      disconnect();
      return connect;
    },
    /** Drops what it sends to another machine; returns how to end it. */
    cutOff({ address, hardware }: { readonly address: string; readonly hardware: string }): () => void {
      point(address, hardwareOf(MOST));
      return () => void point(address, hardware);
    },
    kill,
    async close() {
      await kill();
      holder.kill('SIGKILL');
      await once(holder, 'exit');
    },
  };
}

function ip(...words: string[]): void {
  execFileSync('ip', words);
}

const processes = () => readdirSync('/proc').map(Number).filter(Number.isInteger);

/** Processes may end at any time. */
function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

const namespaceOf = (pid: number | 'self') => orNothing(() => readlinkSync(`/proc/${pid}/ns/net`));
const commandOf = (pid: number) => orNothing(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
