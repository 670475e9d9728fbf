import assert from 'node:assert/strict';
import type { z } from 'zod';
import { readSettings } from '../../../../platform/settings.ts';
import { CORE_SETTINGS } from '../../../../services/core/settings/core-settings.ts';
import { AUDIT_SETTINGS, RECONCILE_SETTINGS } from '../../../../services/core/settings/reconciliation-settings.ts';
import { WORKER_SETTINGS } from '../../../../services/core/settings/worker-settings.ts';

const token = (letter: string) => letter.repeat(32);
const AUDIT = { DATABASE_URL: 'postgresql://host/base', PROCESSOR_URL: 'host:1', PROCESSOR_CREDENTIAL: token('c') };
const WORKER = { ...AUDIT, ENCRYPTION_KEYS: `k:${Buffer.alloc(32).toString('base64')}` };
const CORE = {
  ...WORKER,
  GATEWAY_TOKEN: token('g'),
  SERVICE_TOKEN: token('s'),
  OPERATOR_TOKEN: token('o'),
  PROCESSOR_TOKEN: token('p'),
};

/** A credential and a token for each of several processors. */
const secretsOf = (...names: string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) =>
      ['CREDENTIAL', 'TOKEN'].map((what) => [`PROCESSOR_${name}_${what}`, `${name}-${what}`.repeat(9)]),
    ),
  );

/** Each process: how it reads its settings, its required ones, and some wrong ones. */
const PROCESSES = {
  core: {
    schema: CORE_SETTINGS,
    required: CORE,
    wrong: { CORE_PORT: 'https', GATEWAY_TOKEN: `${token('g')},short`, PROCESSOR_TIMEOUT_MS: '99' },
    optional: ['CORE_PORT', 'CORE_METRICS_PORT', 'CORE_TLS_CERT', 'PROCESSOR_TLS_CA', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  },
  worker: {
    schema: WORKER_SETTINGS,
    required: WORKER,
    wrong: {
      PROCESSOR_CREDENTIAL: `${token('c')},${token('d')}`,
      WEBHOOK_ALLOWED_CIDRS: 'everywhere',
      WEBHOOK_PROXY_URL: 'proxy.internal:3128',
      GATEWAY_ORIGIN: 'nowhere',
      RETENTION_DAYS: '0',
    },
    optional: ['GATEWAY_ORIGIN', 'WORKER_METRICS_PORT', 'OPERATOR_TOKEN', 'RETENTION_DAYS', 'INTERNAL_ALLOWED_CIDRS'],
  },
  audit: {
    schema: AUDIT_SETTINGS,
    required: AUDIT,
    wrong: { PROCESSOR_URL: 'https://secret-host' },
    optional: ['PROCESSOR_TIMEOUT_MS', 'PROCESSOR_TLS_NAME'],
  },
  reconcile: {
    schema: RECONCILE_SETTINGS,
    required: { ...AUDIT, ENCRYPTION_KEYS: WORKER.ENCRYPTION_KEYS },
    wrong: { PROCESSOR_URL: 'https://secret-host' },
    optional: ['PROCESSOR_TIMEOUT_MS', 'PROCESSOR_TLS_NAME'],
  },
};

for (const [name, { schema, required, wrong, optional }] of Object.entries(PROCESSES)) {
  const read = (environment: NodeJS.ProcessEnv) => readSettings(schema as z.ZodObject, environment);
  describe(`the settings of ${name}`, () => {
    it('are unset when they are empty', () => {
      const empty = Object.fromEntries(
        [...optional, 'LOG_LEVEL', 'HOST', 'DATABASE_POOL_SIZE'].map((each) => [each, '']),
      );
      assert.deepEqual(read({ ...required, ...empty }), read(required));
      for (const each of Object.keys(required)) {
        assert.throws(() => read({ ...required, [each]: '' }), { message: `settings: ${each} is not set` });
      }
    });

    it('are named when they are wrong, all at once, without their values', () => {
      const all = { ...wrong, DATABASE_URL: 'mysql://secret', PROCESSOR_CREDENTIAL: 'secret' };
      const keys = name === 'audit' ? {} : { ENCRYPTION_KEYS: 'k:secret' };
      assert.throws(
        () => read({ ...required, ...all, ...keys }),
        ({ message }: Error) => {
          assert.match(message, /^settings: [^\n]+$/);
          for (const each of Object.keys({ ...all, ...keys })) assert.match(message, new RegExp(`\\b${each}: `));
          assert.doesNotMatch(message, /secret|everywhere|nowhere|short/);
          return true;
        },
      );
    });
  });
}

describe('PROCESSOR_URL beside PROCESSORS', () => {
  it('is rejected, and each alone is not', () => {
    const { PROCESSOR_URL, ...rest } = CORE;
    const several = { ...secretsOf('A', 'B'), PROCESSORS: 'a=host:1,b=host:2' };
    assert.equal(readSettings(CORE_SETTINGS, CORE).PROCESSORS, undefined);
    assert.equal(readSettings(CORE_SETTINGS, { ...rest, ...several }).PROCESSOR_URL, undefined);
    assert.throws(() => readSettings(CORE_SETTINGS, { ...CORE, ...several, PROCESSOR_URL }), {
      message: 'settings: PROCESSOR_URL: must be unset: PROCESSORS names them all',
    });
  });
});

describe('METRICS_TOKEN', () => {
  it('is optional, and that of no role', () => {
    const METRICS_TOKEN = `${token('m')},${token('n')}`;
    assert.equal(readSettings(CORE_SETTINGS, { ...CORE, METRICS_TOKEN }).METRICS_TOKEN, METRICS_TOKEN);
    for (const role of ['GATEWAY_TOKEN', 'SERVICE_TOKEN', 'OPERATOR_TOKEN'] as const) {
      assert.throws(() => readSettings(CORE_SETTINGS, { ...CORE, METRICS_TOKEN: CORE[role] }), {
        message: 'settings: METRICS_TOKEN: is that of another role, too',
      });
    }
  });
});

describe('the settings of one processor', () => {
  const { PROCESSOR_URL: _url, PROCESSOR_CREDENTIAL: _credential, PROCESSOR_TOKEN: _token, ...rest } = CORE;
  const read = (more: Record<string, string>) =>
    readSettings(CORE_SETTINGS, { ...rest, PROCESSORS: 'a=host:1,b-eu=host:2', ...more });
  const common = secretsOf('A', 'B_EU');

  it('are read by its name, with underscores', () => {
    const own = { PROCESSOR_B_EU_CREDENTIAL: token('x'), PROCESSOR_B_EU_TOKEN: `${token('y')},${token('z')}` };
    const settings = read({ ...common, ...own });
    assert.equal(settings['PROCESSOR_<NAME>_CREDENTIAL']?.B_EU, token('x'));
    assert.equal(settings['PROCESSOR_<NAME>_TOKEN']?.B_EU, own.PROCESSOR_B_EU_TOKEN);
  });

  it('are needed of each of several, whatever is set for the only one', () => {
    const forAll = { PROCESSOR_CREDENTIAL: token('c'), PROCESSOR_TOKEN: token('p') };
    for (const name of ['PROCESSOR_A_CREDENTIAL', 'PROCESSOR_B_EU_TOKEN']) {
      const message = `settings: ${name} is not set`;
      assert.throws(() => read({ ...common, ...forAll, [name]: '' }), { message });
    }
    const only = { ...rest, PROCESSORS: 'a=host:1' };
    assert.equal(readSettings(CORE_SETTINGS, { ...only, ...forAll }).PROCESSOR_TOKEN, token('p'));
    const { PROCESSOR_A_TOKEN, PROCESSOR_A_CREDENTIAL } = common;
    readSettings(CORE_SETTINGS, { ...only, PROCESSOR_A_TOKEN, PROCESSOR_A_CREDENTIAL });
    assert.throws(() => readSettings(CORE_SETTINGS, { ...only, PROCESSOR_A_TOKEN }), {
      message: 'settings: PROCESSOR_CREDENTIAL is not set',
    });
  });

  it('are no two the same', () => {
    const { PROCESSOR_A_TOKEN, PROCESSOR_A_CREDENTIAL } = common;
    assert.throws(() => read({ ...common, PROCESSOR_B_EU_CREDENTIAL: PROCESSOR_A_CREDENTIAL ?? '' }), {
      message: 'settings: PROCESSOR_B_EU_CREDENTIAL: is that of another processor, too',
    });
    assert.throws(() => read({ ...common, PROCESSOR_B_EU_TOKEN: `${token('z')},${PROCESSOR_A_TOKEN}` }), {
      message: 'settings: PROCESSOR_B_EU_TOKEN: is that of another processor, too',
    });
  });

  it('are rejected when they are wrong, or about no processor, with their names and without their values', () => {
    assert.throws(() => read({ ...common, PROCESSOR_B_EU_TOKEN: 'short' }), {
      message: 'settings: PROCESSOR_B_EU_TOKEN: must have at least 32 characters, all of them ASCII, without blanks',
    });
    assert.throws(() => read({ ...common, PROCESSOR_B_TLS_CA: '/secret', PROCESSOR_C_CREDENTIAL: token('s') }), {
      message:
        'settings: PROCESSOR_C_CREDENTIAL: is about no processor of PROCESSORS; PROCESSOR_B_TLS_CA: is about no ' +
        'processor of PROCESSORS',
    });
  });

  it('must be distinct: two names with the same setting are rejected', () => {
    assert.throws(
      () => read({ ...common, PROCESSORS: 'b-eu=host:1,b_eu=host:2' }),
      /PROCESSORS: must be name=host:port/,
    );
  });
});

describe('LOG_LEVEL', () => {
  for (const name of ['core', 'worker'] as const) {
    it(`of ${name} is any level of pino`, () => {
      const { schema, required } = PROCESSES[name];
      const read = (environment: NodeJS.ProcessEnv) => readSettings(schema as z.ZodObject, environment);
      for (const LOG_LEVEL of ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']) {
        assert.deepEqual(read({ ...required, LOG_LEVEL }), { ...read(required), LOG_LEVEL });
      }
      assert.throws(() => read({ ...required, LOG_LEVEL: 'loud' }), /LOG_LEVEL/);
    });
  }
});

describe('the tokens of core', () => {
  it('stand for one role each', () => {
    const message = 'settings: OPERATOR_TOKEN: is that of another role, too';
    const twice = { ...CORE, GATEWAY_TOKEN: `${token('g')},${token('x')}`, OPERATOR_TOKEN: token('x') };
    assert.throws(() => readSettings(CORE_SETTINGS, twice), { message });
  });
});
