/** What a deployment with Patroni may lose. */
import { setTimeout as delay } from 'node:timers/promises';
import { freeze, signal } from '../deployment/freeze.ts';
import type { Cluster } from './cluster.ts';
import type { Machine } from './machines.ts';

/** Loses a part. Returns how to bring it back. */
export type Loss = (cluster: Cluster) => Promise<() => Promise<void> | void>;

function gone(part: (cluster: Cluster) => Promise<Machine> | Machine): Loss {
  return async (cluster) => {
    const machine = await part(cluster);
    const connect = await machine.kill();
    return () => {
      connect();
      cluster.startMachine(machine);
    };
  };
}

export const LOSSES: Readonly<Record<string, Loss>> = {
  'planned switchover': async (cluster) => {
    await cluster.switchOver();
    return () => undefined;
  },
  'primary killed': async (cluster) => {
    for (const pid of (await cluster.primary()).pids('postgres')) signal(pid, 'SIGKILL');
    return () => undefined;
  },
  "primary's machine gone": gone((cluster) => cluster.primary()),
  "primary's machine frozen": async (cluster) => (await cluster.primary()).freeze(),
  "primary's machine silent": async (cluster) => (await cluster.primary()).silence(),
  // Nobody tells PostgreSQL that it is not the primary any more.
  'Patroni of the primary frozen': async (cluster) => freeze((await cluster.primary()).pids('patroni')),
  'databases cut off from each other': async (cluster) => (await cluster.primary()).cutOff(await cluster.standby()),
  "standby's machine gone": gone((cluster) => cluster.standby()),
  "standby's machine frozen": async (cluster) => (await cluster.standby()).freeze(),
  "standby's machine silent": async (cluster) => (await cluster.standby()).silence(),
  'one etcd gone': gone(({ etcds }) => etcds[Math.floor(Math.random() * etcds.length)] as Machine),
  'all etcd frozen for 55 s': async ({ etcds }) => {
    const thaws = etcds.map((etcd) => etcd.freeze());
    await delay(55_000);
    for (const thaw of thaws) thaw();
    return () => undefined;
  },
};
