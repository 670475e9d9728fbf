/** Access rules: every method of every service, each role, over both servers. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { type DescMethod, type DescService, fromBinary } from '@bufbuild/protobuf';
import { credentials } from '@grpc/grpc-js';
import { openChannel } from '../../../../../platform/grpc-client.ts';
import { ErrorInfoSchema } from '../../../../../proto/gen/google/rpc/error_details_pb.js';
import { MerchantService } from '../../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { openStage, refusal, type Stage } from '../../stage.ts';

const CONTRACTS = ['holdfast/v1', 'holdfast/processor/v1'];
/** A service that core calls and does not serve, and one whose calls are calls of the others. */
const OTHERS = ['holdfast.processor.v1.ProcessorService', 'holdfast.v1.CallService'];
const GATEWAY_ALONE = [
  ...['WatchCredentials', 'ListCredentialChanges', 'UseNonce'],
  ...['AcceptNotification', 'BatchAcceptNotifications', 'QuarantineNotification', 'ReportVerificationFailures'],
  'AcceptRelayedNotification',
];
const ROLES = ['gateway', 'internal', 'operator', 'processor'] as const;

/**
 * Written from docs/interfaces.md, "gRPC and Connect": payments for all services that act for merchants, the rest for
 * operators.
 */
function allowed({ name, parent }: DescMethod): readonly (typeof ROLES)[number][] {
  if (parent.name === 'ProcessorEventService') return ['processor'];
  if (GATEWAY_ALONE.includes(name)) return ['gateway'];
  if (name === 'GetContract') return ['gateway', 'operator'];
  // The gateway needs an API key besides (demandsManagingKey).
  if (name === 'WatchNotifications') return [];
  if (name === 'WatchRelayedNotifications') return ['internal'];
  const payments = ['PreauthorizationService', 'RefundService', 'OctService', 'OperationService'].includes(parent.name);
  return payments ? ['gateway', 'internal', 'operator'] : ['operator'];
}

async function contractServices(): Promise<DescService[]> {
  const services: DescService[] = [];
  for (const folder of CONTRACTS) {
    const directory = new URL(`../../../../../proto/gen/${folder}/`, import.meta.url);
    for (const file of (await readdir(directory)).filter((name) => name.endsWith('_pb.js'))) {
      const module: Record<string, { kind?: string; typeName?: string }> = await import(new URL(file, directory).href);
      for (const exported of Object.values(module)) {
        if (exported.kind === 'service' && !OTHERS.includes(exported.typeName ?? ''))
          services.push(exported as DescService);
      }
    }
  }
  return services;
}

describe('rolesFor()', () => {
  let stage: Stage;
  const methods: DescMethod[] = [];
  const closers: (() => void)[] = [];

  before(async () => {
    stage = await openStage();
    const call = servers.grpc(stage.tokens.operator);
    for (const service of await contractServices()) {
      assert.notEqual(await call(service.methods[0] ?? assert.fail()), 'UNIMPLEMENTED', service.name);
      methods.push(...service.methods);
    }
  });
  after(async () => {
    for (const close of closers) close();
    await stage.close();
  });

  /** The refusal of an empty call; '' = it was allowed and succeeded. */
  const servers = {
    grpc(token: string): (method: DescMethod) => Promise<string> {
      const address = `127.0.0.1:${stage.cores[0]?.corePort}`;
      const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 10_000 });
      closers.push(() => channel.close());
      return async (method) => {
        const client = channel.client(method.parent) as unknown as Record<string, (request: object) => unknown>;
        const call = client[method.localName]?.({});
        const answered = (async () => {
          if (method.methodKind === 'unary') return await call;
          for await (const message of call as AsyncIterable<object>) return message;
          return undefined;
        })();
        try {
          await answered;
          return '';
        } catch (error) {
          const { reason, status } = await refusal(Promise.reject(error));
          return reason || status;
        }
      };
    },
    json(token: string): (method: DescMethod) => Promise<string> {
      return async (method) => {
        const stream = method.methodKind !== 'unary';
        const abort = new AbortController();
        const response = await fetch(
          `http://127.0.0.1:${stage.cores[0]?.connectPort}/${method.parent.typeName}/${method.name}`,
          {
            method: 'POST',
            headers: {
              'content-type': stream ? 'application/connect+json' : 'application/json',
              ...(token && { authorization: `Bearer ${token}` }),
            },
            body: stream ? Buffer.concat([Buffer.from([0, 0, 0, 0, 2]), Buffer.from('{}')]) : '{}',
            signal: abort.signal,
          },
        );
        const reader = response.body?.getReader();
        let bytes = Buffer.from((await reader?.read())?.value ?? []);
        for (; !stream; ) {
          const { done, value } = (await reader?.read()) ?? assert.fail();
          if (done) break;
          bytes = Buffer.concat([bytes, value]);
        }
        await reader?.cancel();
        abort.abort();
        if (stream && bytes[0] !== 2) return '';
        const body = JSON.parse((stream ? bytes.subarray(5) : bytes).toString());
        return wordOf(stream ? body.error : body);
      };
    },
  };

  for (const server of ['grpc', 'json'] as const) {
    it(`allow each role its own methods, and no others (${server})`, async () => {
      assert(methods.length >= 35);
      for (const role of ROLES) {
        const call = servers[server](stage.tokens[role]);
        for (const method of methods) {
          const word = await call(method);
          const name = `${role} calls ${method.parent.name}.${method.name}: ${word}`;
          assert.notEqual(word, 'UNAUTHENTICATED', name);
          assert.equal(word === 'FORBIDDEN', !allowed(method).includes(role), name);
          assert(!['UNIMPLEMENTED', 'INTERNAL', 'unimplemented', 'internal', 'UNKNOWN'].includes(word), name);
        }
      }
    });

    it(`reject calls without a credential, or with a wrong one (${server})`, async () => {
      const { tokens } = stage;
      const wrong = [
        '',
        randomBytes(24).toString('base64url'),
        tokens.credential,
        `${tokens.operator} `,
        `x${tokens.operator}`,
      ];
      for (const token of wrong.slice(server === 'grpc' ? 1 : 0).filter((each) => each.trim() === each)) {
        const call = servers[server](token);
        for (const method of methods) assert.equal(await call(method), 'UNAUTHENTICATED', method.name);
      }
    });
  }

  it('judge each of several calls that are sent as one', async () => {
    const address = `127.0.0.1:${stage.cores[0]?.corePort}`;
    const words = async (token: string, own: string) => {
      const common = { address, credentials: credentials.createInsecure(), timeoutMs: 10_000 };
      const channel = openChannel({ ...common, token });
      const merchants = channel.gathering(MerchantService);
      const calls = [
        merchants.listMerchants({}),
        merchants.listCredentialChanges({}),
        merchants.listMerchants({}, { metadata: { authorization: `Bearer ${own}` } }),
      ];
      const judged = await Promise.all(
        calls.map((call) =>
          call.then(
            () => '',
            (error) => refusal(Promise.reject(error)),
          ),
        ),
      );
      channel.close();
      return judged.map((word) => (typeof word === 'string' ? word : word.reason));
    };
    const { gateway, operator } = stage.tokens;
    assert.deepEqual(await words(gateway, operator), ['FORBIDDEN', '', '']);
    assert.deepEqual(await words(operator, gateway), ['', 'FORBIDDEN', 'FORBIDDEN']);
    const nobody = 'x'.repeat(40);
    assert.deepEqual(await words(nobody, operator), ['UNAUTHENTICATED', 'UNAUTHENTICATED', '']);
  });

  it('know one scheme', async () => {
    const url = `http://127.0.0.1:${stage.cores[0]?.connectPort}/holdfast.v1.MerchantService/ListMerchants`;
    const token = stage.tokens.operator;
    const call = async (authorization: string) =>
      (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', authorization }, body: '{}' }))
        .status;
    // Schemes are compared without regard to case (RFC 9110).
    for (const scheme of ['Bearer', 'bearer']) assert.equal(await call(`${scheme} ${token}`), 200, scheme);
    for (const other of [token, `Basic ${token}`, `Bearer  ${token}`, `Bearer ${token}, Bearer ${token}`, 'Bearer']) {
      assert.equal(await call(other), 401, other.replace(token, '…'));
    }
  });
});

function wordOf(error: { code?: string; details?: { type: string; value: string }[] } | undefined): string {
  const detail = error?.details?.find(({ type }) => type === 'google.rpc.ErrorInfo');
  if (!detail) return error?.code ?? '';
  return fromBinary(ErrorInfoSchema, Buffer.from(detail.value, 'base64')).reason;
}
