/** Patroni's REST interface, with a certificate. */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

/** Asks any of the databases that answers; there must be certificates in the directory. */
export function openPatroniClient(directory: string, databases: readonly string[]) {
  const read = (name: string) => readFileSync(`${directory}/certificates/${name}`, 'utf8');
  const tls = { ca: read('ca.pem'), cert: read('node.pem'), key: read('node.key') };
  /** Returns undefined when it does not answer in time. */
  const ask = (host: string, path: string, body?: object) =>
    new Promise<string | undefined>((resolve) => {
      const options = { ...tls, host, port: 8008, path, method: body ? 'POST' : 'GET' };
      const nothing = () => resolve(undefined);
      const asked = request(options, (response) => void text(response).then(resolve, nothing));
      asked.once('error', nothing);
      asked.setTimeout(body ? 30_000 : 2_000, () => asked.destroy());
      asked.end(body && JSON.stringify(body));
    });
  const members = async (): Promise<readonly Member[]> => {
    const answers = await Promise.all(databases.map((name) => ask(name, '/cluster')));
    return JSON.parse(answers.find((answer) => answer?.startsWith('{')) ?? '{}').members ?? [];
  };
  return {
    /** The name of the database that has a role and runs; waits for it. */
    async withRole(role: 'leader' | 'sync_standby'): Promise<string> {
      for (let waitedMs = 0; ; waitedMs += 200) {
        const all = await members();
        const member = all.find((each) => each.role === role && /running|streaming/.test(each.state));
        if (member) return member.name;
        if (waitedMs > PATIENCE_MS) throw new Error(`there is no ${role}: ${JSON.stringify(all)}`);
        await delay(200);
      }
    },
    /** Sends a change to Patroni, and a read to etcd, without a certificate. Returns what became of each. */
    askAsStranger: (etcd: string) => {
      const say = (url: string, method: string) =>
        new Promise<string>((resolve) => {
          const asked = request(url, { ca: tls.ca, method }, ({ statusCode }) => resolve(String(statusCode)));
          asked.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
          asked.end('{}');
        });
      return Promise.all([
        say(`https://${databases[0]}:8008/config`, 'PATCH'),
        say(`https://${etcd}:2379/v3/kv/range`, 'POST'),
      ]);
    },
    switchOver: (leader: string, candidate: string) => ask(leader, '/switchover', { leader, candidate }),
  };
}

const PATIENCE_MS = 60_000;
