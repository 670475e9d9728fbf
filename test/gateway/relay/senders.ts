/** Senders of the relay in tests, and requests that they sign. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { signNotification, signStandardWebhook } from '../../../client/webhooks/signature.ts';
import type { LiveSender } from '../../../gateway/core/credentials.ts';
import { RelaySenderCredentialsSchema, RelaySenderSettingsSchema } from '../../../proto/gen/holdfast/v1/relay_pb.js';
import { signingSecret } from '../../signing-secret.ts';

type Settings = Partial<Record<'header' | 'encoding' | 'prefix' | 'idHeader' | 'idPointer' | 'typeHeader', string>> & {
  readonly timestamped?: boolean;
  readonly toleranceSeconds?: number;
  readonly internalTypes?: string[];
};

/** A sender of acme's; its senderId ends in `number`. */
export function sender(scheme: string, keys: readonly string[], settings: Settings = {}, number = 1): LiveSender {
  const credentials = create(RelaySenderCredentialsSchema, {
    senderId: `0199a1b2-7c3d-7e4f-8a5b-${String(number).padStart(12, '0')}`,
    scheme,
    keys: [...keys],
    keyIds: keys.map((_, index) => `0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f000${index}`),
    settings: create(RelaySenderSettingsSchema, { toleranceSeconds: 300, ...settings }),
  });
  return { merchantId: 'acme', credentials };
}

/** The settings of docs/relay.md, "Presets". */
export const PRESETS = {
  github: {
    header: 'x-hub-signature-256',
    encoding: 'hex',
    prefix: 'sha256=',
    idHeader: 'x-github-delivery',
    typeHeader: 'x-github-event',
  },
  shopify: {
    header: 'x-shopify-hmac-sha256',
    encoding: 'base64',
    idHeader: 'x-shopify-webhook-id',
    typeHeader: 'x-shopify-topic',
  },
  stripe: { header: 'stripe-signature', encoding: 'hex', timestamped: true, idPointer: '/id' },
} as const;

export const SECRET = signingSecret('a sender');
export const NEWER = signingSecret('the newer secret of a sender');
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
export const PUBLIC_KEY = publicKey.export({ format: 'pem', type: 'spki' }) as string;

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest();
const FIELDS = { merchantId: 'acme', requestId: 'REQ-1', status: 'OK', amount: '1000', currency: 'EUR' };
/** What every sender sends here. */
export const BODY =
  '{"id":"evt_1","type":"invoice.paid","merchantId":"acme","requestId":"REQ-1","status":"OK","amount":1000,"currency":"EUR"}';

/** Each scheme with a sender, and the headers with which it signs BODY at a time, seconds since 1970. */
export const SCHEMES = {
  'service-signature': {
    sender: sender('service-signature', [SECRET], {}, 1),
    sign: () => ({ 'x-service-signature': signNotification(SECRET, FIELDS) }),
  },
  'standard-webhooks': {
    sender: sender('standard-webhooks', [SECRET], {}, 2),
    sign: (timestampSeconds: number) => standardHeaders('msg_1', timestampSeconds, BODY),
  },
  'hmac-sha256-body': {
    sender: sender('hmac-sha256-body', [SECRET], PRESETS.github, 3),
    sign: () => ({ 'x-hub-signature-256': `sha256=${hmac(SECRET, BODY).toString('hex')}` }),
  },
  'hmac-sha256-body, timestamped': {
    sender: sender('hmac-sha256-body', [SECRET], PRESETS.stripe, 4),
    sign: (seconds: number) => ({
      'stripe-signature': `t=${seconds},v1=${hmac(SECRET, `${seconds}.${BODY}`).toString('hex')}`,
    }),
  },
  'ed25519-body': {
    sender: sender('ed25519-body', [PUBLIC_KEY], { header: 'x-signature-ed25519', encoding: 'hex' }, 5),
    sign: () => ({ 'x-signature-ed25519': signBytes(Buffer.from(BODY)).toString('hex') }),
  },
} as const;

export function signBytes(bytes: Buffer): Buffer {
  return sign(null, bytes, privateKey);
}

export function standardHeaders(id: string, timestampSeconds: number, body: string, secret = SECRET) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signStandardWebhook(secret, { id, timestampSeconds, body }),
  };
}
