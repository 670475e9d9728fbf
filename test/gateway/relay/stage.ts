/** A relay on a port of its own, in front of a fake core. */
import assert from 'node:assert/strict';
import { type IncomingHttpHeaders, request } from 'node:http';
import { credentials as channelCredentials, status } from '@grpc/grpc-js';
import Koa from 'koa';
import { Registry } from 'prom-client';
import { type SignedFields, signNotification } from '../../../client/webhooks/signature.ts';
import type { LiveSender } from '../../../gateway/core/credentials.ts';
import { openProblems } from '../../../gateway/http/error-handler.ts';
import { openExchanges } from '../../../gateway/http/exchange.ts';
import { createGatewayServer } from '../../../gateway/http/server.ts';
import { type Limits, openLimits } from '../../../gateway/limits/limits.ts';
import { createRelay, type Relay } from '../../../gateway/relay/relay.ts';
import { openChannel } from '../../../platform/grpc-client.ts';
import type { Log, LogFields } from '../../../platform/log.ts';
import { NotificationService } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { RelayService } from '../../../proto/gen/holdfast/v1/relay_pb.js';
import { signingSecret } from '../../signing-secret.ts';
import { type FakeCore, startFakeCore } from './fake-core.ts';

/** Secrets of the merchants on this stage, older first. */
export const SECRETS: Readonly<Record<string, readonly string[]>> = {
  acme: [signingSecret('acme, older')],
  globex: [signingSecret('globex, older'), signingSecret('globex, newer')],
  M00: [signingSecret('M00')],
  M001: [signingSecret('M001')],
  closed: [],
};

/** The names of any merchant's secrets. */
export const SECRET_IDS = ['0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f3b01', '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f3b02'];

/** A request of a test. */
export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string | string[]>;
  /** null sends none. */
  readonly signature?: string | string[] | null;
  /** The sender's address, as a trusted proxy reports it. */
  readonly from?: string;
}

/** The answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Stage {
  readonly port: number;
  readonly core: FakeCore;
  readonly relay: Relay;
  readonly registry: Registry;
  /** All log lines so far. */
  readonly lines: { level: string; event: string; fields: LogFields }[];
  fresh: boolean;
  secrets: typeof SECRETS;
  /** The relayVerification of merchants. */
  readonly demanded: Record<string, string>;
  /** By senderId. */
  readonly senders: Map<string, LiveSender>;
  /** Called when the relay requests the newest credentials. */
  refresh: () => Promise<void>;
  send(sent: Sent): Promise<Answer>;
  /** Sends, and returns status and code of the problem that is the answer. */
  refusal(sent: Sent): Promise<string>;
  metric(name: string, labels?: Record<string, string>): Promise<number>;
  close(): Promise<void>;
}

/** Opens a stage; all options but the relay's own are fixed. */
export async function openStage(
  options: {
    verifiedPerSecond?: number;
    addressPerSecond?: number;
    bodyTimeoutMs?: number;
    reportEveryMs?: number;
    limits?: Limits;
  } = {},
): Promise<Stage> {
  const core = await startFakeCore();
  const channel = openChannel({
    address: `127.0.0.1:${core.port}`,
    credentials: channelCredentials.createInsecure(),
    token: 'test',
    timeoutMs: 20_000,
  });
  const lines: Stage['lines'] = [];
  const write =
    (level: string) =>
    (event: string, fields: LogFields = {}) =>
      lines.push({ level, event, fields });
  const log: Log = { info: write('info'), warn: write('warn'), error: write('error') };
  const registry = new Registry();
  const limits = options.limits ?? openLimits({ log, registry });
  const stage: Pick<Stage, 'fresh' | 'secrets' | 'demanded' | 'senders' | 'refresh'> = {
    fresh: true,
    secrets: SECRETS,
    demanded: {},
    senders: new Map(),
    refresh: async () => undefined,
  };
  const relay = createRelay({
    notifications: channel.client(NotificationService),
    relay: channel.client(RelayService),
    credentials: {
      secretsOf: (merchantId) => stage.secrets[merchantId],
      secretIdsOf: (merchantId) => (stage.secrets[merchantId] ?? []).map((_, index) => SECRET_IDS[index] ?? ''),
      relayVerificationOf: (merchantId) => stage.demanded[merchantId],
      senderOf: (senderId) => stage.senders.get(senderId),
      isFresh: () => stage.fresh,
      refresh: () => stage.refresh(),
    },
    limits,
    log,
    registry,
    verifiedPerSecond: 1_000_000,
    addressPerSecond: 1_000_000,
    exchanging: openExchanges(log, () => undefined),
    toProblem: openProblems(log, []),
    trustedHops: 1,
    closing: new AbortController().signal,
    ...options,
  });
  const handle = new Koa().use(relay.middleware).callback();
  const { server, listen } = createGatewayServer(
    (incoming, response) => void handle(incoming, response),
    options.bodyTimeoutMs,
  );
  const port = await listen(0, '127.0.0.1');

  return Object.assign(stage, {
    port,
    core,
    relay,
    registry,
    lines,
    send: (sent: Sent) => send(port, sent),
    async refusal(sent: Sent) {
      const answer = await send(port, sent);
      assert.match(answer.headers['content-type'] ?? '', /^application\/problem\+json/);
      const { code, status } = JSON.parse(answer.body);
      assert.equal(status, answer.status);
      return `${status} ${code}`;
    },
    metric: async (name: string, labels: Record<string, string> = {}) => {
      const { values = [] } = (await registry.getSingleMetric(name)?.get()) ?? {};
      const matching = values.filter((value) =>
        Object.entries(labels).every(
          ([label, text]) => String((value.labels as Record<string, unknown>)[label]) === text,
        ),
      );
      return matching.reduce((sum, { value }) => sum + value, 0);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await relay.close();
      channel.close();
      await core.close();
      assert.deepEqual(
        lines.filter(({ level }) => level === 'error'),
        [],
      );
    },
  });
}

/** Builds a notification as the merchant's processor sends it, signed with the merchant's older secret. */
export function notification(fields: Partial<SignedFields> & { extra?: Record<string, unknown> } = {}): {
  body: string;
  signature: string;
} {
  const { extra, ...rest } = fields;
  const signed = { merchantId: 'acme', requestId: 'REQ-1', status: 'OK', amount: '1000', currency: 'EUR', ...rest };
  const { amount, ...texts } = signed;
  const body = `${JSON.stringify({ ...texts, ...extra }).slice(0, -1)},"amount":${amount}}`;
  return { body, signature: signNotification(SECRETS[signed.merchantId]?.[0] ?? 'whsec_unknown', signed) };
}

/** Errors of a core that is down, and internal errors. */
export const CORE_FAILURES = [
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.INTERNAL,
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.PERMISSION_DENIED,
  status.RESOURCE_EXHAUSTED,
] as const;

function send(
  port: number,
  { method = 'POST', path = '/webhook/processor/payment/captured', ...sent }: Sent,
): Promise<Answer> {
  const headers: Record<string, string | string[]> = { 'content-type': 'application/json', ...sent.headers };
  if (sent.signature !== null && sent.signature !== undefined) headers['x-service-signature'] = sent.signature;
  if (sent.from !== undefined) headers['x-forwarded-for'] = sent.from;
  return new Promise((resolve, reject) => {
    const outgoing = request({ port, host: '127.0.0.1', method, path, headers }, async (incoming) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body });
    });
    outgoing.on('error', reject);
    outgoing.end(sent.body);
  });
}
