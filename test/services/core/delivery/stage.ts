/** The parts of a worker over a real database and real local receivers, on a manual clock. */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { v7 as uuidv7 } from 'uuid';
import { openLog } from '../../../../platform/log.ts';
import { Deliverer, type DeliverParts } from '../../../../services/core/delivery/deliverer.ts';
import { parseNetworks, type Resolve } from '../../../../services/core/egress/destination.ts';
import { openSender } from '../../../../services/core/egress/http-sender.ts';
import { openAnnounce } from '../../../../services/core/storage/announce.ts';
import { hashOf, openCipher } from '../../../../services/core/storage/cipher.ts';
import type {
  EndpointId,
  EndpointPurpose,
  NotificationKind,
} from '../../../../services/core/storage/delivery/delivery-row.ts';
import { sealHeaders, secretContext } from '../../../../services/core/storage/endpoint/endpoint-terms.ts';
import type { NotificationInput } from '../../../../services/core/storage/notification/accepted-row.ts';
import { openPool } from '../../../../services/core/storage/open-pool.ts';
import { createMigratedDatabase } from '../../../database.ts';
import { serveLocally } from '../../../local-server.ts';

/** What a test of deliveries needs. */
export type DeliveryStage = Awaited<ReturnType<typeof openDeliveryStage>>;

export interface NewDelivery {
  readonly endpointId?: EndpointId;
  readonly body?: string;
  readonly signature?: string;
  readonly kind?: NotificationKind;
  readonly statusInfo?: string;
}

export interface NewEndpoint {
  readonly purpose?: EndpointPurpose;
  readonly types?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutS?: number;
}

export const KEY = { id: 'test', key: randomBytes(32) };

export async function openDeliveryStage() {
  const test = await createMigratedDatabase();
  const log = openLog('test', 'silent');
  const database = await openPool({ databaseUrl: test.url, poolSize: 6 });
  const announce = openAnnounce(database);
  const cipher = openCipher([KEY]);
  const time = { now: Date.now() };
  const clock = () => new Date(time.now);
  const allowed = parseNetworks('127.0.0.0/8');
  const closers: (() => Promise<unknown>)[] = [];
  const sql = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    database.query<Row>({ name: '', text }, values);

  const openParts = (extra: Partial<DeliverParts> & { timeoutMs?: number; resolve?: Resolve } = {}) => {
    const rules = { allowed, ...(extra.resolve && { resolve: extra.resolve }) };
    const sender = openSender({ webhook: rules, internal: rules }, extra.timeoutMs);
    const deliverer = new Deliverer({ database, sender, cipher, clock, log, random: () => 0.5, ...extra });
    closers.push(() => deliverer.close());
    return deliverer;
  };

  return {
    url: test.url,
    database,
    announce,
    cipher,
    log,
    clock,
    time,
    sql,
    openDeliverer: openParts,
    /** Creates a merchant with both endpoints at `url`. */
    async addMerchant(id: string, url: string | null) {
      await sql(
        `insert into merchant (id, name, allow_multiple_captures, hold_period_s, currencies, terminals, notify_holds,
          require_signed_captures, webhook_url, internal_url, created_at, change_number)
        values ($1, $1, true, 60, '{EUR}', '{t}', true, false, $2, $2, now(), 1)`,
        [id, url],
      );
      return this.addSecret(id);
    },
    async addSecret(merchantId: string, createdAt = new Date(time.now)) {
      const id = uuidv7();
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      await sql(
        'insert into signing_secret (id, merchant_id, hash, ciphertext, created_at) values ($1, $2, $3, $4, $5)',
        [id, merchantId, hashOf(secret), cipher.seal(secret, secretContext(id)), createdAt],
      );
      return { id, secret };
    },
    /** Adds a further endpoint of a merchant. */
    async addEndpoint(merchantId: string, url: string, { headers, ...terms }: NewEndpoint = {}) {
      const endpointId: EndpointId = `${terms.purpose ?? 'webhook'}-${uuidv7()}`;
      const sealed = headers ? sealHeaders(cipher, endpointId, headers) : null;
      await sql(
        `insert into webhook_endpoint (merchant_id, id, url, types, description, headers_ciphertext, timeout_s, created_at)
          values ($1, $2, $3, $4, '', $5, $6, now())`,
        [merchantId, endpointId, url, terms.types ?? null, sealed, terms.timeoutS ?? 10],
      );
      await sql('update merchant set has_endpoints = true where id = $1', [merchantId]);
      const id = uuidv7();
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      await sql(
        `insert into endpoint_secret (id, merchant_id, endpoint_id, hash, ciphertext, created_at)
          values ($1, $2, $3, $4, $5, now())`,
        [id, merchantId, endpointId, hashOf(secret), cipher.seal(secret, secretContext(id))],
      );
      return { endpointId, secret };
    },
    /** Creates a delivery that is due now, and announces nothing. */
    async addDelivery(merchantId: string, delivery: NewDelivery = {}) {
      const id = uuidv7();
      const body = delivery.body ?? bodyOf(merchantId, id);
      await sql(
        `insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, signature, state,
          attempt_count, due_at, created_at)
        values ($1, $2, $3, $4, $9, $5, $6, $7, 'PENDING', 0, $8, $8)`,
        [
          id,
          merchantId,
          delivery.endpointId ?? 'webhook',
          id,
          delivery.statusInfo ?? 'captured',
          Buffer.from(body),
          delivery.signature ?? null,
          clock(),
          delivery.kind ?? 'payment',
        ],
      );
      return id;
    },
    async deliveryOf(id: string) {
      const [row] = await sql<{ state: string; attemptCount: number; dueAt: Date | null; deliveredAt: Date | null }>(
        'select state, attempt_count, due_at, delivered_at from delivery where id = $1',
        [id],
      );
      if (!row) throw new Error('no such delivery');
      return row;
    },
    attemptsOf: (id: string) =>
      sql<{
        number: number;
        httpStatus: number | null;
        error: string | null;
        fault: string | null;
        url: string | null;
        responseHead: string | null;
      }>(
        'select number, http_status, error, fault, url, response_head from delivery_attempt where delivery_id = $1 ' +
          'order by number',
        [id],
      ),
    async close() {
      for (const close of closers) await close();
      await database.close();
      await test.drop();
    },
  };
}

export function bodyOf(merchantId: string, requestId: string): string {
  return JSON.stringify({ merchantId, requestId, status: 'OK', amount: 1050, currency: 'EUR' });
}

/** A notification of merchant `m` as the relay stores it, with the given changes. */
export const storedNotification = (requestId: string, change: Partial<NotificationInput> = {}): NotificationInput => ({
  merchantId: 'm',
  requestId,
  kind: 'payment',
  statusInfo: 'captured',
  status: 'OK',
  amount: '10.50',
  currency: 'EUR',
  body: Buffer.from(`{"requestId":"${requestId}"}`),
  signature: `${'A'.repeat(43)}=`,
  deliveryId: uuidv7(),
  receivedAt: new Date().toISOString(),
  identifier: null,
  digest: null,
  relayedHeaders: null,
  forward: true,
  ...change,
});

/** A request that a receiver got. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver on this machine with scripted answers. */
export async function openReceiver(answer: (response: ServerResponse, received: Received) => void = ok) {
  const received: Received[] = [];
  const how = { answer };
  const { url, close } = await serveLocally((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { headers, url: path = '' } = request;
      const each = { path, headers, body: Buffer.concat(chunks).toString() };
      received.push(each);
      how.answer(response, each);
    });
  });
  return { url, received, how, close };
}

export function ok(response: ServerResponse): void {
  response.end('thanks');
}
