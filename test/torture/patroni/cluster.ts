/** The deployment of docker-compose.ha.yml without containers. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../../services/quickstart/ports.ts';
import { type Files, writeFiles } from './files.ts';
import { type Machine, openMachines } from './machines.ts';
import { openPatroniClient } from './patroni-client.ts';

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** Starts three etcd and two databases, each on a machine of its own, and here an HAProxy for each core. */
export async function startCluster() {
  const files = await writeFiles();
  const { directory } = files;
  const machines = await openMachines([...files.etcds, ...files.databases]);
  const hosts = [...machines.values()].map(({ name, address }) => `${address} ${name}\n`);
  files.write('hosts', `127.0.0.1 localhost postgres\n${hosts.join('')}`);
  execFileSync('mount', ['--bind', `${directory}/hosts`, '/etc/hosts']);
  const machineOf = (name: string) => machines.get(name) ?? assert.fail(name);
  const [etcds, databases] = [files.etcds.map(machineOf), files.databases.map(machineOf)];
  const patroni = openPatroniClient(directory, files.databases);
  const primary = async () => machineOf(await patroni.withRole('leader'));
  const standby = async () => machineOf(await patroni.withRole('sync_standby'));
  const startMachine = (machine: Machine) => startAll(machine, files);

  for (const etcd of etcds) startMachine(etcd);
  startMachine(databases[0] as Machine);
  await primary();
  for (const database of databases.slice(1)) startMachine(database);
  await standby();
  const [patch, read] = await patroni.askAsStranger(files.etcds[0] as string);
  assert.equal(patch, '403');
  assert.match(read, /CERTIFICATE|ECONNRESET/);
  const balancers = [await startBalancer(files), await startBalancer(files)];
  const urlOf = (process?: string) =>
    files.databaseUrl.replace(':5432/', `:${balancers[process === 'core-2' ? 1 : 0]?.port}/`);
  const admin = new URL(urlOf());
  admin.username = 'postgres';
  admin.password = files.superuserPassword;
  return {
    url: urlOf(),
    adminUrl: admin.href,
    urlOf,
    etcds,
    primary,
    standby,
    /** Moves the primary in an orderly way. */
    switchOver: async () => patroni.switchOver((await primary()).name, (await standby()).name),
    /** Starts again what ran on a machine. */
    startMachine,
    async close() {
      for (const { child } of balancers) child.kill('SIGKILL');
      await Promise.all([...machines.values()].map((machine) => machine.close()));
      execFileSync('umount', ['/etc/hosts']);
      await rm(directory, { recursive: true });
    },
  };
}

function startAll({ name, run }: Machine, { directory, etcds, environmentOf }: Files): void {
  const log = `${directory}/${name}.log`;
  const config = `${directory}/${name}.yml`;
  const commands = etcds.includes(name)
    ? [['etcd']]
    : [
        ['patroni', config],
        ['/usr/bin/python3', `${directory}/takeover.py`, config],
      ];
  for (const command of commands) run(command, environmentOf(name), log);
}

/** On this machine, which is not lost. */
async function startBalancer(files: Files): Promise<{ port: number; child: ChildProcess }> {
  const [port, readyPort] = [await freePort(), await freePort()];
  files.write(`haproxy-${port}.cfg`, files.balancerConfig(port, readyPort));
  const child = spawn('haproxy', ['-db', '-f', `${files.directory}/haproxy-${port}.cfg`], { stdio: 'ignore' });
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 100) {
    const ready = await fetch(`http://127.0.0.1:${readyPort}/ready`).catch(() => undefined);
    if (ready?.ok) return { port, child };
    await delay(100);
  }
  return assert.fail('HAProxy finds no primary');
}

const PATIENCE_MS = 30_000;
