import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parse } from 'yaml';
import { SETTINGS } from '../../.ci/tables.ts';
import { readSettings } from '../../platform/settings.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import { createDatabase } from '../database.ts';
import { API_KEY as ADYEN_KEY } from '../services/adyen/fake/fake-adyen.ts';
import { signingSecret } from '../signing-secret.ts';

/** Values that an operator would create and put into `.env`. */
const MADE: Readonly<Record<string, string>> = {
  DATABASE_PASSWORD: 'database-password',
  SUPERUSER_PASSWORD: 'superuser-password',
  BACKUP_PASSPHRASE: 'backup-passphrase',
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  SIGNING_SECRETS: JSON.stringify({ shop: [signingSecret('shop')] }),
  PROCESSORS: 'default=sandbox:50061,stripe=stripe:50062,adyen=adyen:50063',
  STRIPE_API_KEY: 'sk_test_x',
  STRIPE_WEBHOOK_SECRET: 'whsec_x',
  STRIPE_LEDGER_PASSWORD: 'ledger-password',
  ADYEN_API_KEY: ADYEN_KEY,
  ADYEN_MERCHANT_ACCOUNT: 'AcmeECOM',
  ADYEN_HMAC_KEY: '0'.repeat(64),
  ADYEN_API_BASE: 'https://checkout-test.adyen.com/v71',
  ADYEN_RETURN_URL: 'https://shop.example/returned',
  ADYEN_PAGE_ORIGIN: 'https://pay.example',
  ADYEN_LEDGER_PASSWORD: 'ledger-password',
  TRUSTED_PROXY_HOPS: '1',
  ...Object.fromEntries(
    [
      ...[
        'GATEWAY_TOKEN',
        'SERVICE_TOKEN',
        'OPERATOR_TOKEN',
        'METRICS_TOKEN',
        'PROCESSOR_TOKEN',
        'PROCESSOR_CREDENTIAL',
      ],
      ...['PROCESSOR_STRIPE_TOKEN', 'PROCESSOR_STRIPE_CREDENTIAL'],
      ...['PROCESSOR_ADYEN_TOKEN', 'PROCESSOR_ADYEN_CREDENTIAL'],
    ].map((name) => [name, name.padEnd(32, '-')]),
  ),
};

/** The process of each service. */
const PROCESSES: Readonly<Record<string, string>> = {
  core: 'core',
  worker: 'worker',
  'gateway-1': 'gateway',
  'gateway-2': 'gateway',
  sandbox: 'sandbox',
  merchant: 'merchant',
  stripe: 'stripe',
  adyen: 'adyen',
};

/** The adapters, which a profile starts. */
const ADAPTERS = ['stripe', 'adyen'] as const;

interface Service {
  readonly restart?: string;
  readonly healthcheck?: { readonly test: string };
  readonly command?: string;
  readonly profiles?: readonly string[];
  readonly volumes?: readonly string[];
  /** A variable without a value is passed through from compose's own environment, and unset when absent there. */
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
}

const root = new URL('../../', import.meta.url);
const text = await readFile(new URL('docker-compose.yml', root), 'utf8');
const { services } = parse(text, { merge: true, strict: true }) as { services: Record<string, Service> };

describe('docker-compose.yml', () => {
  it('requires no undocumented variable', () => {
    const needed = new Set(text.match(/(?<=\$\{)\w+/g));
    assert.deepEqual([...needed].sort(), Object.keys(MADE).sort());
  });

  it('depends on services that exist', () => {
    for (const { depends_on = [] } of Object.values(services)) {
      const names = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      for (const name of names) assert(Object.hasOwn(services, name), name);
    }
  });

  it('starts every service again after the machine has restarted, and knows whether it is well', () => {
    for (const [name, { restart, healthcheck }] of Object.entries(services).filter(([name]) => name !== 'migrate')) {
      assert.equal(restart, 'unless-stopped', name);
      assert(healthcheck?.test, `${name} has a health check`);
    }
  });

  it('exports the metrics of core and worker, which most alerts need', () => {
    assert.equal(services.core?.environment?.CORE_METRICS_PORT, '9101');
    assert.equal(services.worker?.environment?.WORKER_METRICS_PORT, '9102');
  });

  it('knows the sandbox alone unless an adapter is asked for', () => {
    const environment = { ...services.core?.environment, ...services.worker?.environment };
    const settings = substituted(environment, {});
    assert.equal(settings.PROCESSORS, 'default=sandbox:50061');
    assert.deepEqual([settings.PROCESSOR_STRIPE_CREDENTIAL, settings.PROCESSOR_ADYEN_CREDENTIAL], ['', '']);
  });

  for (const name of ADAPTERS) {
    it(`shows ${name} the credential and the token that core has for it, at the address that core calls`, () => {
      const { environment = {} } = services[name] ?? {};
      const core = services.core?.environment ?? {};
      const setting = name.toUpperCase();
      assert.equal(environment.PROCESSOR_CREDENTIAL, core[`PROCESSOR_${setting}_CREDENTIAL`]);
      assert.equal(environment.PROCESSOR_TOKEN, core[`PROCESSOR_${setting}_TOKEN`]);
      assert(MADE.PROCESSORS?.includes(`${name}=${name}:${environment[`${setting}_PORT`]}`));
      assert.deepEqual([services[name]?.profiles, services[`${name}-ledger`]?.profiles], [[name], [name]]);
    });

    it(`runs ${name} with its command and settings until its health check is well`, async () => {
      const { command = '', environment = {}, healthcheck } = services[name] ?? {};
      const database = await createDatabase();
      const ports = [...JSON.stringify(environment).matchAll(/"(?:\w+_PORT)":"(\d+)"/g)].map(([, port = '']) => port);
      const free = await Promise.all(ports.map(async () => String(await freePort())));
      const moved = (text: string) => ports.reduce((all, port, index) => all.replaceAll(port, free[index] ?? ''), text);
      const env = {
        ...JSON.parse(moved(JSON.stringify(substituted(environment)))),
        // What is a name in the network of Compose is an address here, and nothing is asked of the processor itself.
        DATABASE_URL: database.url,
        CORE_URL: '127.0.0.1:1',
        [`${name.toUpperCase()}_API_BASE`]: 'http://127.0.0.1:1',
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      };
      const child = spawn('sh', ['-c', `exec ${command}`], { cwd: root, env, stdio: ['ignore', 'ignore', 'inherit'] });
      try {
        const check = ['-c', moved(healthcheck?.test ?? '')];
        for (;;) {
          const [status] = await once(spawn('sh', check, { env, stdio: 'ignore' }), 'exit');
          if (status === 0) break;
          assert.equal(child.exitCode, null, 'it runs');
        }
      } finally {
        const ended = child.exitCode === null ? once(child, 'exit') : [child.exitCode, null];
        child.kill('SIGTERM');
        const [status] = await ended;
        await database.drop();
        assert.equal(status, 0);
      }
    });
  }

  it('gives the service a role that is no superuser, with a password of its own', () => {
    assert.equal(services.postgres?.environment?.POSTGRES_USER, undefined);
    assert.match(services.postgres?.environment?.POSTGRES_PASSWORD ?? '', /^\$\{SUPERUSER_PASSWORD:\?\}$/);
    assert.match(
      services.core?.environment?.DATABASE_URL ?? '',
      /^postgresql:\/\/holdfast:\$\{DATABASE_PASSWORD:\?\}@/,
    );
    assert.match(text, /create role holdfast login password/);
  });

  it('archives the log into the repository of which the backup service makes backups, beside the same data', async () => {
    const { postgres, backup } = services;
    assert.match(postgres?.command ?? '', /-c archive_mode=on .*-c 'archive_command=pgbackrest archive-push "%p"'/);
    for (const [name, value] of Object.entries(backup?.environment ?? {}))
      if (name.startsWith('PGBACKREST_')) assert.equal(postgres?.environment?.[name], value, name);
    assert.equal(backup?.environment?.PGBACKREST_PG1_PATH, '/var/lib/postgresql/18/docker');
    const written = (backup?.volumes ?? []).map((volume) => volume.replace(/:ro$/, ''));
    assert.deepEqual(written, postgres?.volumes);
    assert.equal(backup?.command, 'bash /etc/holdfast/backup.sh forever');
    const { configs } = parse(text, { merge: true }) as { configs: Record<string, { file?: string }> };
    await access(new URL(configs.backup?.file ?? assert.fail(), root));
  });

  it('runs programs that exist', async () => {
    const programs = Object.values(services).flatMap(({ command }) => /^node (\S+)$/.exec(command ?? '')?.[1] ?? []);
    assert(programs.includes('services/core/migrate.ts'));
    for (const program of programs) await access(new URL(program, root));
  });

  it('sets the one setting of the migration', () => {
    assert.deepEqual(Object.keys(services.migrate?.environment ?? {}), ['DATABASE_URL']);
  });

  for (const [name, process] of Object.entries(PROCESSES)) {
    it(`gives ${name} only settings that it knows, and all that it requires`, () => {
      const { environment = {} } = services[name] ?? {};
      const schema = SETTINGS[process];
      assert(schema);
      const known = new Set(Object.keys(schema.shape).map((setting) => setting.replace('<NAME>', '[A-Z]+')));
      for (const setting of Object.keys(environment)) {
        assert(
          [...known].some((form) => new RegExp(`^${form}$`).test(setting)),
          setting,
        );
      }
      readSettings(schema, substituted(environment));
    });
  }
});

/** `${NAME:?}` is required, `${NAME:-…}` has a default. */
const VARIABLE = /\$\{(\w+):(?:\?|-([^}]*))\}/g;

function substituted(
  environment: Readonly<Record<string, string | null>>,
  made: Readonly<Record<string, string>> = MADE,
): Record<string, string> {
  const given = Object.entries(environment).filter(([, value]) => value !== null);
  const values = given.map(([name, value]) => {
    return [name, String(value).replace(VARIABLE, (_, variable: string, preset = '') => made[variable] ?? preset)];
  });
  return Object.fromEntries(values);
}
